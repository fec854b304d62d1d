package app

import "testing"

func TestIsWorkload(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: serve\n": true, "# a remark\n\n---\nkind:\n  x\n": true, "  # indented\nmodel: x": true,
		"time,units\n2026-01-05T00:00:00Z,1\n": false, "{\"status\": 1}": false, "": false, "\"time\",units\n": false, "time:stamp,units\n": false,
	} {
		if got := isWorkload([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
