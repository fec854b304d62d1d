package packed

import (
	"bytes"
	"compress/gzip"
	"testing"
)

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("a,b\n1,2\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{[]byte("a,b\n1,2\n"), b.Bytes()} {
		if got, err := Plain(data); err != nil || string(got) != "a,b\n1,2\n" {
			t.Errorf("%q: %q %v", data, got, err)
		}
	}
	if _, err := Plain(b.Bytes()[:b.Len()/2]); err == nil {
		t.Error("half of a file passed")
	}
}
