package say

import (
	"strings"

	"github.com/rackrate/rackrate/internal/facts/model"
)

// ModelNotes are the codes of what was assumed or left out where a model was counted from a file. The notes of the models that
// ship with the program are prose for whoever keeps the table.
func ModelNotes(m *model.Model) []string {
	codes := []string{}
	for code := range strings.FieldsSeq(m.Notes) {
		if speakEnglish().Has("model_note." + code) {
			codes = append(codes, code)
		}
	}
	return codes
}
