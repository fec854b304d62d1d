package unit

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read is a parser with its type erased, so that one table serves all of them.
type read func(string) (float64, error)

func erase[T ~int64 | ~float64](parse func(string) (T, error)) read {
	return func(s string) (float64, error) {
		v, err := parse(s)
		return float64(v), err
	}
}

var (
	readBytes = erase(ParseBytes)
	readRate  = erase(ParseRate)
	readCount = erase(ParseCount)
	readHours = erase(ParseHours)
	readMass  = erase(ParseMass)
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		read read
		text string
		want float64
	}{
		{readBytes, "80GB", 80e9},
		{readBytes, "80 GiB", 80 * (1 << 30)},
		{readBytes, " 1.2 tb ", 1.2e12},
		{readBytes, "1,000,000", 1e6},
		{readBytes, "1,234.5kB", 1234500},
		{readBytes, ".5 KiB", 512},
		{readBytes, "1e3MB", 1e9},
		{readBytes, "-0", 0},

		{readRate, "2GB/s", 2e9},
		{readRate, "500 MiB/s", 500 * (1 << 20)},
		{readRate, "100Gbps", 12.5e9},
		{readRate, "100 Gbit/s", 12.5e9},
		{readRate, "100 gbps", 12.5e9},
		{readRate, "2GBps", 2e9},
		{readRate, "2 GiBps", 2 * (1 << 30)},
		{readRate, "8bps", 1},

		{readCount, "2B", 2e9},
		{readCount, "500M", 5e8},
		{readCount, "1.5k", 1500},
		{readCount, "1e18", 1e18},
		{readCount, "1E", 1e18},
		{readCount, "3T", 3e12},

		{readHours, "72h", 72},
		{readHours, "3d", 72},
		{readHours, "90m", 1.5},
		{readHours, "1mo", 730},
		{readHours, "2 weeks", 336},
		{readHours, "1y", 8760},
		{readHours, "1h30m", 1.5},
		{readHours, "1h 30m", 1.5},
		{readHours, "3600000ms", 1},

		{readMass, "400kg", 400},
		{readMass, "1.2t", 1200},
		{readMass, "900 g", 0.9},
	} {
		got, err := c.read(c.text)
		if err != nil || math.Abs(got-c.want) > 1e-9*c.want || math.Signbit(got) {
			t.Errorf("%q = %v (%v), want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		read read
		text string
		want error
	}{
		{readBytes, "", ErrSyntax},
		{readBytes, "GB", ErrSyntax},
		{readBytes, "80 eggs", ErrSyntax},
		{readBytes, "0x10", ErrSyntax},
		{readBytes, "1_000", ErrSyntax},
		{readBytes, "Inf", ErrSyntax},
		{readBytes, "NaN", ErrSyntax},
		{readBytes, "1,5 TB", ErrSyntax},
		{readBytes, "1.5,000", ErrSyntax},
		{readBytes, ",500", ErrSyntax},
		{readBytes, "1,,000", ErrSyntax},
		{readBytes, "1.2.3 GB", ErrSyntax},
		{readBytes, "-1GB", ErrRange},
		{readBytes, "1e400", ErrRange},
		{readBytes, "9300 PB", ErrRange},
		{readBytes, "1e308 TB", ErrRange},

		{readRate, "2GB", ErrSyntax},
		{readRate, "2 Gb per s", ErrSyntax},
		{readRate, "1e308PB/s", ErrRange},

		{readCount, "2 dozen", ErrSyntax},
		{readCount, "1e300E", ErrRange},

		{readHours, "72", ErrSyntax},
		{readHours, "soon", ErrSyntax},
		{readHours, "-1h", ErrRange},
		{readHours, "-1h30m", ErrRange},
		{readHours, "1e308y", ErrRange},

		{readMass, "2 stone", ErrSyntax},
	} {
		got, err := c.read(c.text)
		if !errors.Is(err, c.want) || got != 0 {
			t.Errorf("%q = %v (%v), want error %v", c.text, got, err, c.want)
		}
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{(80 * GiB).String(), "80 GiB"},
		{(80 * GB).String(), "80 GB"},
		{Bytes(0).String(), "0 B"},
		{(1536 * MiB).Binary(), "1.5 GiB"},
		{(1024 * GiB).Decimal(), "1.1 TB"},
		{Bytes(999_600_000).Decimal(), "1 GB"},
		{(-2 * GiB).String(), "-2 GiB"},
		{Count(8.03e9), "8.03B"},
		{Count(512), "512"},
		{Count(1500), "1.5k"},
		{FLOPS(989.4e12).String(), "989 TFLOPS"},
		{FLOPS(1.979e15).String(), "1.98 PFLOPS"},
		{BytesPerSec(3.35e12).String(), "3.35 TB/s"},
		{BytesPerSec(12.5e9).String(), "12.5 GB/s"},
		{Sig3(0.0123456), "0.0123"},
		{Sig3(12345), "12345"},
		{Sig3(100), "100"},
		{Sig3(0), "0"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

// What is printed reads back as the same figure, to the three digits that printing keeps.
func TestPrintThenParse(t *testing.T) {
	near := func(t *rapid.T, text string, got, want float64, err error) {
		if err != nil || math.Abs(got-want) > 0.00501*math.Abs(want) {
			t.Fatalf("%v printed as %q and read as %v (%v)", want, text, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Int64Range(0, 9e18).Draw(t, "bytes"))
		for _, text := range []string{b.String(), b.Binary(), b.Decimal()} {
			got, err := ParseBytes(text)
			near(t, text, float64(got), float64(b), err)
		}
		r := BytesPerSec(rapid.Float64Range(1, 1e17).Draw(t, "rate"))
		got, err := ParseRate(r.String())
		near(t, r.String(), float64(got), float64(r), err)
		n := rapid.Float64Range(1e-3, 1e20).Draw(t, "count")
		count, err := ParseCount(Count(n))
		near(t, Count(n), count, n, err)
	})
}

// Grouping the digits never changes the figure, and neither do case and spaces around the unit.
func TestSpellingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1e12).Draw(t, "n")
		name := rapid.SampledFrom([]string{"", "B", "kB", "MB", "KiB", "MiB"}).Draw(t, "unit")
		plain := strconv.FormatInt(n, 10)
		want, err := ParseBytes(plain + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			grouped(plain) + name,
			plain + "  " + strings.ToLower(name),
			" " + plain + strings.ToUpper(name) + " ",
		} {
			if got, err := ParseBytes(text); err != nil || got != want {
				t.Fatalf("%q = %v (%v), want %v", text, got, err, want)
			}
		}
	})
}

func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// fuzz holds any parser to the contract of all: a finite figure that is not negative, or one of the two errors.
func fuzz(f *testing.F, parse read, seeds ...string) {
	for _, s := range append(seeds, "", "0", "-1", "1e999", "1,5", "..", "∞", "1h30m", strings.Repeat("9", 400)) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parse(s)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0) || v < 0) {
			t.Errorf("%q read as %v", s, v)
		}
		if err != nil && !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrRange) {
			t.Errorf("%q: %v is neither of the errors that callers know", s, err)
		}
	})
}

func FuzzParseBytes(f *testing.F) { fuzz(f, readBytes, "80 GiB", "1.2TB", "9223372036854775807") }
func FuzzParseRate(f *testing.F)  { fuzz(f, readRate, "2GB/s", "100Gbps", "2GBps") }
func FuzzParseCount(f *testing.F) { fuzz(f, readCount, "2B", "1e18") }
func FuzzParseHours(f *testing.F) { fuzz(f, readHours, "72h", "1h30m", "2 weeks", "1e308y") }
