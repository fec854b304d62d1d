package spot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// json reads {"metadata": {"gap_seconds": …, "currency": …}, "data": […]}; other keys may say what they like.
func (r *reader) json(raw []byte) {
	line := func(at int) int { return 1 + bytes.Count(raw[:at], []byte("\n")) }
	if raw[bytes.IndexAny(raw, "{[")] == '[' {
		r.fault(1, "spot.wants_object", nil)
		return
	}
	var metadata, data, list bool
	dec := json.NewDecoder(bytes.NewReader(quoted(raw)))
	end, err := members(dec, func(key string, value []byte, at int) error {
		switch {
		case key == "metadata" && !metadata && value[0] == '{':
			metadata = true
			return r.metadata(raw[at:at+len(value)], line(at))
		case key == "data" && !data && value[0] == '[':
			data, list = true, true
			elements(raw[at:at+len(value)], func(i, from, to int) {
				r.value(string(raw[at+from:at+to]), func() (string, int) { return "data[" + strconv.Itoa(i) + "]", line(at + from) })
			})
		case key == "data":
			r.fault(line(at), "spot.not_a_list", nil)
			data = true
		}
		return nil
	})
	if rest := bytes.TrimLeft(raw[min(end, len(raw)):], " \t\r\n"); err == nil && len(rest) > 0 {
		err, end = errors.New("more than one value"), len(raw)-len(rest)
	}
	if err != nil {
		if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
			end = int(bad.Offset) - 1
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			end = len(raw)
		}
		r.faults = nil // what was found before says less than that this is no JSON
		r.fault(line(max(0, min(end, len(raw)))), "spot.bad_json", problem.Args{"Error": err.Error()})
		return
	}
	if !r.spaced {
		r.fault(1, "spot.no_gap", nil)
	}
	if !data || list && len(r.at) == 0 {
		r.fault(1, "spot.no_data", nil)
	}
}

// metadata takes the length of a tick and the currency from an object that has been read once; first is its first line.
func (r *reader) metadata(raw []byte, first int) error {
	_, err := members(json.NewDecoder(bytes.NewReader(quoted(raw))), func(key string, value []byte, at int) error {
		text, line := string(raw[at:at+len(value)]), first+bytes.Count(raw[:at], []byte("\n"))
		switch key {
		case "gap_seconds":
			seconds, err := number(text)
			if err != nil {
				seconds = -1
			}
			r.spacing(seconds, text, line)
		case "currency":
			var code string
			if json.Unmarshal(value, &code) != nil {
				code = text
			}
			r.money(code, line)
		}
		return nil
	})
	return err
}

// members calls f with each member of the object that comes next: its key, its value as written and where that begins. It gives the
// offset behind the object.
func members(dec *json.Decoder, f func(key string, value []byte, at int) error) (end int, err error) {
	if _, err = dec.Token(); err != nil { // the brace
		return int(dec.InputOffset()), err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return int(dec.InputOffset()), err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return int(dec.InputOffset()), err
		}
		if err := f(key.(string), value, int(dec.InputOffset())-len(value)); err != nil {
			return int(dec.InputOffset()), err
		}
	}
	_, err = dec.Token()
	return int(dec.InputOffset()), err
}

// elements calls f with the bounds of each element of a list that is known to be well-formed.
func elements(list []byte, f func(i, from, to int)) {
	n, depth, from, text := 0, 0, 1, false
	element := func(to int) {
		e := bytes.TrimLeft(list[from:to], " \t\r\n")
		start := to - len(e)
		if e = bytes.TrimRight(e, " \t\r\n"); len(e) > 0 {
			f(n, start, start+len(e))
			n++
		}
		from = to + 1
	}
	for i := 1; i < len(list)-1; i++ {
		switch c := list[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			element(i)
		}
	}
	element(len(list) - 1)
}

// quoted is JSON in which NaN and Infinity, which some programs write for a value that is missing, are texts of the same length, so that
// each is reported in its place and not the first of them as broken JSON.
func quoted(raw []byte) []byte {
	out, text := raw, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == 'N' || c == 'I'):
			for _, word := range []string{"NaN", "Infinity"} {
				if !bytes.HasPrefix(raw[i:], []byte(word)) {
					continue
				}
				if &out[0] == &raw[0] {
					out = bytes.Clone(raw)
				}
				from, to := i, i+len(word)-1
				if from > 0 && raw[from-1] == '-' {
					from--
				}
				copy(out[from:to+1], `"`+string(bytes.Repeat([]byte("x"), to-from-1))+`"`)
				i = to
			}
		}
	}
	return out
}
