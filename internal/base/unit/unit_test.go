package unit

import (
	"encoding/json"
	"testing"
	"time"
)

func TestMaybe(t *testing.T) {
	var zero Maybe[int]
	for _, m := range []Maybe[int]{zero, None[int]()} {
		if v, ok := m.Get(); ok || v != 0 || m.Known() || m.Or(7) != 7 {
			t.Errorf("an unknown figure says it is known: %+v", m)
		}
	}
	if v, ok := Some(0).Get(); !ok || v != 0 || !Some(0).Known() || Some(0).Or(7) != 0 {
		t.Error("a known zero is taken for unknown")
	}
}

func TestMaybeJSON(t *testing.T) {
	type row struct {
		Carbon Maybe[Kilograms] `json:"carbon"`
		Power  Maybe[Watts]     `json:"power"`
	}
	text := `{"carbon":null,"power":0}`
	var r row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Carbon.Known() || !r.Power.Known() {
		t.Errorf("null must be unknown and 0 known: %+v", r)
	}
	out, err := json.Marshal(r)
	if err != nil || string(out) != text {
		t.Errorf("wrote %s (%v), want %s", out, err, text)
	}
	r.Power = Some(Watts(700))
	if err := json.Unmarshal([]byte(`{"power":null}`), &r); err != nil || r.Power.Known() {
		t.Errorf("null must make a known figure unknown again: %+v (%v)", r.Power, err)
	}
	if err := json.Unmarshal([]byte(`{"power":"much"}`), &r); err == nil {
		t.Error("read a word as a figure")
	}
}

func TestHours(t *testing.T) {
	if got := FromDuration(90 * time.Minute); got != 1.5 {
		t.Errorf("90 minutes = %v h", got)
	}
	if got := FromSeconds(7200); got != 2 || got.Seconds() != 7200 {
		t.Errorf("7200 s = %v h = %v s", got, got.Seconds())
	}
}
