package accuracy

import (
	"bytes"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

const fitHeader = `# Written by "rackrate accuracy fit"; change the model or the measurements, not this file.
# base and terms are natural logarithms of measured over predicted, shrunk where few groups speak; errors are fractions, on
# groups (model x accelerator x source) and on whole accelerators left out of the fit; intervals are measured over predicted.
`

// Encode is a calibration as its file in data/efficiency/fit.
func Encode(k *estimate.Calibration) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(fitHeader)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(k); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}
