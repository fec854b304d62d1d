package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/store"
)

func manyChanges(n int) (list []store.Change) {
	for i := range n {
		list = append(list, store.Change{Provider: "aws", InstanceType: fmt.Sprintf("type-%d", i), Lines: fmt.Sprintf("us-east-1,on-demand,%d,2\n", i)})
	}
	return list
}

// What every plan pays before it looks at a price: opening the store and asking for its sources, of which there are ten, each
// read two hundred times.
func BenchmarkOpenReadOnly(b *testing.B) {
	for name, address := range databases {
		b.Run(name, func(b *testing.B) {
			at := address(b)
			db := open(b, at)
			for source := range 10 {
				f := reading(fmt.Sprint("source", source), "one", 0)
				publish(b, db, f, 0)
				for minute := range 200 {
					f.Finished = noon.Add(time.Duration(minute) * time.Minute)
					if _, err := db.Publish(b.Context(), f, 0); err != nil {
						b.Fatal(err)
					}
				}
			}
			if name == "sqlite" { // it is closed when a plan comes by
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				r, err := store.OpenReadOnly(b.Context(), at)
				if err != nil {
					b.Fatal(err)
				}
				if got := sources(b, r, time.Time{}); len(got) != 10 {
					b.Fatal(got)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPublish(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, address := range databases {
		for _, size := range []struct{ megabytes, changes int }{{1, 1000}, {10, 10_000}} {
			b.Run(fmt.Sprintf("%s/%dMB/%d", name, size.megabytes, size.changes), func(b *testing.B) {
				db := open(b, address(b))
				f := reading("aws", string(randomBytes(rnd, size.megabytes*1_000_000)), 1)
				f.Changes = manyChanges(size.changes)
				b.SetBytes(int64(len(f.Archive)))
				var id store.SnapshotID
				for i := 0; b.Loop(); i++ {
					f.Hash = fmt.Sprint(i)
					id = publish(b, db, f, id)
				}
				b.ReportMetric(float64(b.N*size.changes)/b.Elapsed().Seconds(), "changes/s")
			})
		}
	}
}

// Reading a snapshot back, as every plan does for each of its sources.
func BenchmarkArchive(b *testing.B) {
	for name, address := range databases {
		b.Run(name, func(b *testing.B) {
			db := open(b, address(b))
			f := reading("aws", string(randomBytes(rand.New(rand.NewPCG(1, 2)), 4_000_000)), 1)
			id := publish(b, db, f, 0)
			b.SetBytes(int64(len(f.Archive)))
			for b.Loop() {
				if got, err := db.Archive(b.Context(), id); err != nil || len(got) != len(f.Archive) {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}
