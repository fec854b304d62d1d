package workload

// draft is a workload while it is read: it also holds what is only said on the way to another figure, and
// every section, so that a key can be read before it is known whether its kind of work has it.
type draft struct {
	Workload
	steps, epochs, datasetTokens, batchTokens float64
	file                                      string

	traffic Traffic
	batch   Batch
	images  Generation
	frames  RenderWork
	sim     Simulation
	hash    HashWork
	custom  CustomWork
}

func newDraft(k Kind, file string) *draft {
	d := &draft{file: file}
	d.Kind = k
	d.Layout.ZeRO = -1
	if k == Train {
		d.Method = Full
	}
	return d
}

// draftOf opens a finished workload again, to write it out.
func draftOf(w *Workload) *draft {
	d := &draft{Workload: *w}
	copyOf(&d.traffic, w.Traffic)
	copyOf(&d.batch, w.Batch)
	copyOf(&d.images, w.Diffuse)
	copyOf(&d.frames, w.Render)
	copyOf(&d.sim, w.Sim)
	copyOf(&d.hash, w.Hash)
	copyOf(&d.custom, w.Custom)
	return d
}

func copyOf[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// finish hands over the workload with the sections of its kind.
func (d *draft) finish() *Workload {
	w := d.Workload
	switch w.Kind {
	case Serve:
		w.Traffic = &d.traffic
	case BatchInfer:
		w.Batch = &d.batch
	case Diffuse:
		w.Diffuse = &d.images
	case Render:
		w.Render = &d.frames
	case Simulate:
		w.Sim = &d.sim
	case Hash:
		w.Hash = &d.hash
	case Custom:
		w.Custom = &d.custom
	}
	return &w
}
