package workload

import (
	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/yamltext"
)

// Limits on what is read. A workload is a few kilobytes and two levels deep; the limits keep a hostile file
// cheap without ever meeting an honest one.
const (
	maxFile  = 1 << 20
	maxDepth = 16
	// maxFaults bounds the report; the number of faults past it is still told.
	maxFaults = 100
)

var fileCodes = map[yamltext.Kind]string{
	yamltext.TooLarge: codeTooLarge, yamltext.Encoding: codeEncoding, yamltext.Control: codeControl, yamltext.Empty: codeEmpty,
	yamltext.Syntax: codeSyntax, yamltext.TooDeep: codeTooDeep, yamltext.Documents: codeDocuments,
}

// load turns a file into its one mapping, or nil where there is none to go on with.
func (r *reader) load(data []byte) *yaml.Node {
	n, faults := yamltext.Load(data, maxFile, maxDepth)
	for _, f := range faults {
		r.at(f.Line, fileCodes[f.Kind], f.Args)
	}
	if n == nil {
		return nil
	}
	r.refuseTricks(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", n.Kind == yaml.MappingNode && len(n.Content) == 0:
		r.at(n.Line, codeEmpty, nil)
		return nil
	case n.Kind != yaml.MappingNode:
		r.at(n.Line, codeNotMapping, problem.Args{"Key": ""})
		return nil
	}
	return n
}

// refuseTricks reports every anchor, alias and explicit tag: a workload has no use for them, and aliases let a
// small file stand for a huge one.
func (r *reader) refuseTricks(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		r.at(n.Line, codeAnchor, problem.Args{"Name": "*" + n.Value})
		r.bad[n] = true
		return
	}
	if n.Anchor != "" {
		r.at(n.Line, codeAnchor, problem.Args{"Name": "&" + n.Anchor})
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.at(n.Line, codeTag, problem.Args{"Tag": n.Tag})
		r.bad[n] = true
	}
	for _, c := range n.Content {
		r.refuseTricks(c)
	}
}
