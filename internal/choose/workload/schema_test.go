package workload

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// structural faults are those a schema can see for itself.
var structural = []string{
	codeUnknownKey, codeNotForKind, codeMissing, codeMissingChoice, codeTwoWays, codeNeedsAlso, codeEmptyValue,
	codeWrongType, codeNotMapping, codeEmpty,
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is what an editor hands the schema; false where the file is not one YAML mapping that JSON can hold.
func asJSON(data []byte) (any, bool) {
	var v any
	if err := yaml.Load(data, &v); err != nil {
		return nil, false
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return out, err == nil
}

// hasStructural says that a schema must refuse a file. That a key is missing which only some networks need is not for a schema to see.
func hasStructural(err error) bool {
	return slices.ContainsFunc(problem.All(err), func(e *problem.Error) bool {
		if e.Code == codeMissing {
			kind, _ := e.Args["Kind"].(string)
			key, _ := e.Args["Key"].(string)
			if f := field(key, Kind(kind)); f != nil && f.For != nil {
				return false
			}
		}
		return slices.Contains(structural, e.Code)
	})
}

func TestSchemaAgreesWithFixtures(t *testing.T) {
	s := compileSchema(t)
	files := fixtures(t, "*.yaml")
	for _, k := range Kinds() {
		files[string(k)+".good.yaml"] = Example(k, "zh")
	}
	for path, data := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			v, ok := asJSON(data)
			if !ok {
				if strings.Contains(path, ".good.") {
					t.Fatal("a good file is not plain YAML")
				}
				return
			}
			_, parseErr := Parse(path, data, oneFile, fakeFacts())
			checkAgreement(t, s, v, parseErr)
		})
	}
}

// checkAgreement: what Parse takes the schema takes; what has a structural fault the schema refuses.
func checkAgreement(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *jsonschema.Schema, v any, parseErr error) {
	t.Helper()
	schemaErr := s.Validate(v)
	if parseErr == nil && schemaErr != nil {
		t.Fatalf("Parse takes it and the schema does not: %v", schemaErr)
	}
	if schemaErr == nil && hasStructural(parseErr) {
		t.Fatalf("the schema takes it and Parse does not: %v", parseErr)
	}
}

// TestEveryFieldIsInTheSchema and can be reached from its kinds.
func TestEveryFieldIsInTheSchema(t *testing.T) {
	text := string(Schema())
	for _, f := range Fields() {
		if !strings.Contains(text, `"#/$defs/`+defName(&f)+`"`) {
			t.Errorf("%s is not referred to", f.Path)
		}
	}
}
