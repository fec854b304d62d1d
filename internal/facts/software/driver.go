package software

// Driver is which NVIDIA driver on Linux a CUDA version needs.
type Driver struct {
	// Bundled is the driver released with the toolkit: everything of that version works. Empty where not known.
	Bundled string
	// Floor is the oldest driver that runs programs of that major version at all (minor-version compatibility):
	// what is compiled to machine code works, code that is compiled on the spot may not.
	Floor  string
	Source string
}

// MinDriver finds the driver for a CUDA version such as 12.4 or 12.4.1; false where neither figure is known.
func (t *Table) MinDriver(cuda string) (Driver, bool) {
	v, err := ParseVersion(cuda)
	if err != nil {
		return Driver{}, false
	}
	// Updates of a release (12.4.1) need what the release needs: rows are by major and minor number.
	if v.n > 2 {
		v = mustVersion(Version{parts: v.parts, n: 2}.String())
	}
	var d Driver
	if f := t.at(Toolkit, "cuda", "min_driver_minor", v); f != nil {
		d.Floor, d.Source = f.Value, f.Source
	}
	if f := t.at(Toolkit, "cuda", "min_driver", v); f != nil {
		d.Bundled, d.Source = f.Value, f.Source
	}
	return d, d != Driver{}
}
