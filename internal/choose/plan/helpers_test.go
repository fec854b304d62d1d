package plan_test

import (
	"testing"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func mustFormat(t *testing.T, name string) model.FormatInfo {
	t.Helper()
	f, err := model.LookupFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func selectors(t *testing.T, text string) []accelerator.Selector {
	t.Helper()
	s, err := accelerator.Embedded().ParseSelectors(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
