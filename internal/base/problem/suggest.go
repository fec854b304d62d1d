package problem

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Nearest gives up to n of the known names that word was probably meant to be, best first: by edit distance
// after folding case and punctuation, at most a third of the word's length away, or containing it.
func Nearest(word string, known []string, n int) []string {
	w := fold(word)
	if w == "" || len(w) > 64 {
		return nil
	}
	type hit struct {
		name string
		dist int
	}
	var hits []hit
	limit := max(1, utf8.RuneCountInString(w)/3)
	for _, k := range known {
		f := fold(k)
		d := distance(w, f, limit+1)
		switch {
		case d <= limit:
		case len(w) >= 3 && strings.Contains(f, w):
			d = limit + 1
		default:
			continue
		}
		hits = append(hits, hit{k, d})
	}
	sort.SliceStable(hits, func(i, j int) bool {
		if hits[i].dist != hits[j].dist {
			return hits[i].dist < hits[j].dist
		}
		return hits[i].name < hits[j].name
	})
	var names []string
	for _, h := range hits {
		if len(names) == n {
			break
		}
		names = append(names, h.name)
	}
	return names
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', ' ', '.', '/':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance is the optimal string alignment distance (a swap of neighbours counts one), cut off at limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d >= limit || -d >= limit {
		return limit
	}
	older, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		best := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
			best = min(best, cur[j])
		}
		if best >= limit {
			return limit
		}
		older, prev, cur = prev, cur, older
	}
	return prev[len(y)]
}
