package simulate

import "math"

// cut is how a domain is divided: a cube over a grid of parts, as near to cubes as the number of parts allows.
// A prime number of parts leaves slabs, which is what a solver would do too.
type cut struct {
	parts int
	// faces of the busiest part that have a neighbour: 0 alone, 1 of two, up to 6.
	faces int
	// area of those faces, in the area of the one cut that halves the domain. It is 1 for two parts and
	// approaches 6 x parts^(-2/3).
	area float64
}

// divide finds the grid whose busiest part has the least surface.
func divide(parts int) cut {
	best := cut{parts: max(parts, 1), area: math.Inf(1)}
	for x := 1; x*x*x <= best.parts; x++ {
		if best.parts%x != 0 {
			continue
		}
		rest := best.parts / x
		for y := x; y*y <= rest; y++ {
			if rest%y != 0 {
				continue
			}
			if c := grid(x, y, rest/y); c.area < best.area {
				best = c
			}
		}
	}
	return best
}

// grid is the cut into x by y by z parts. A face across an axis has 1/(product of the other two) of the domain's
// cross-section; the boundaries of the domain itself exchange nothing.
func grid(x, y, z int) cut {
	c := cut{parts: x * y * z}
	for _, k := range [...]int{x, y, z} {
		n := min(k-1, 2)
		c.faces += n
		c.area += float64(n) * float64(k) / float64(c.parts)
	}
	return c
}
