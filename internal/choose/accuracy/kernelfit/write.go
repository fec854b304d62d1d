package kernelfit

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

const head = `# The time of single kernels and collectives, fitted by internal/choose/accuracy/kernelfit; do not edit by hand.
#
# Each list is looked up by the accelerator's name, its architecture and compute capability, its architecture, its vendor,
# then "default". The columns are described at the types of the same names in internal/choose/estimate.
#   n      measurements; error and p90 are the median and 90th percentile of the absolute error on those left out: whole
#          shapes for a chip, whole chips for anything wider; 0 where nothing could be left out
#   like   how near the figures are to a measurement of the chip looked up: chip, family, kind, none
# Multiplies and attention are short bursts at boost clock. sustained is what of the multiply rate is kept up for hours.
# Sources: ai-dynamo/aiconfigurator (Apache-2.0), stas00/ml-engineering (CC BY-SA 4.0).
`

func write(t *estimate.KernelTable) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	fmt.Fprintf(&b, "as_of: %s\n", t.AsOf)
	list(&b, "multiply", t.Multiply)
	list(&b, "decode", t.Decode)
	list(&b, "prefill", t.Prefill)
	list(&b, "sustained", t.Sustained)
	b.WriteString("inside:\n")
	for _, topology := range sortedKeys(t.Inside) {
		fmt.Fprintf(&b, "  %s:\n", topology)
		entries(&b, "    ", t.Inside[topology])
	}
	b.WriteString("between:\n")
	rows(&b, "  ", t.Between)
	return b.Bytes()
}

func list[C any](b *bytes.Buffer, name string, kinds map[string]map[string]C) {
	fmt.Fprintf(b, "%s:\n", name)
	entries(b, "  ", kinds)
}

func entries[C any](b *bytes.Buffer, indent string, kinds map[string]map[string]C) {
	for _, kind := range sortedKeys(kinds) {
		fmt.Fprintf(b, "%s%s:\n", indent, kind)
		rows(b, indent+"  ", kinds[kind])
	}
}

func rows[C any](b *bytes.Buffer, indent string, curves map[string]C) {
	for _, key := range sortedKeys(curves) {
		fmt.Fprintf(b, "%s%s: {%s}\n", indent, key, strings.Join(fields(reflect.ValueOf(curves[key])), ", "))
	}
}

// fields is a curve's fields by their names in the file, figures to three digits.
func fields(v reflect.Value) []string {
	var out []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			out = append(out, fields(f)...)
		case reflect.Float64:
			out = append(out, name+": "+digits(f.Float()))
		case reflect.Int:
			out = append(out, name+": "+strconv.FormatInt(f.Int(), 10))
		default:
			text := f.String()
			if strings.Contains(text, " ") {
				text = strconv.Quote(text)
			}
			out = append(out, name+": "+text)
		}
	}
	return out
}

func digits(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
