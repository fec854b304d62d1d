package software

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Version is a release number: up to five whole numbers. What follows them (rc1, .post2, +cu128) is not kept,
// so that a candidate counts as its release: the chips it runs on are the same.
type Version struct {
	parts [5]int
	n     int // how many were written
}

var versionText = regexp.MustCompile(`^v?([0-9]{1,6}(?:\.[0-9]{1,6}){0,4})(?:[._-]?[a-z]+[0-9]*)*(?:\+[0-9A-Za-z._-]*)?$`)

// ParseVersion reads "2.6", "v2.6.0", "2.6.0+cu124", "2.7.0rc1" or "580.65.06". The error is software.bad_version.
func ParseVersion(s string) (Version, error) {
	m := versionText.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return Version{}, problem.New(problem.Input, "software.bad_version", problem.Args{"Text": s})
	}
	var v Version
	for part := range strings.SplitSeq(m[1], ".") {
		v.parts[v.n], _ = strconv.Atoi(part) // at most six digits, so that it cannot fail
		v.n++
	}
	return v, nil
}

// mustVersion reads a version that was checked before.
func mustVersion(s string) Version {
	v, err := ParseVersion(s)
	if err != nil {
		panic(err)
	}
	return v
}

// Compare is negative where v is older than w; 2.6 and 2.6.0 are the same.
func (v Version) Compare(w Version) int { return slices.Compare(v.parts[:], w.parts[:]) }

// Major is the first number.
func (v Version) Major() int { return v.parts[0] }

// within says whether v is p or one of its sub-versions: 2.6.1 is within 2.6.
func (v Version) within(p Version) bool { return slices.Equal(v.parts[:p.n], p.parts[:p.n]) }

// String prints the numbers as written.
func (v Version) String() string {
	text := make([]string, v.n)
	for i := range text {
		text[i] = strconv.Itoa(v.parts[i])
	}
	return strings.Join(text, ".")
}

// Constraint is a set of versions: every clause must hold. The zero value allows all.
type Constraint struct{ clauses []clause }

type clause struct {
	op  string // ==, !=, >=, <=, >, <
	v   Version
	all bool // with ==: and all its sub-versions; with !=: and none of them
}

// holds says whether a version satisfies the clause.
func (c clause) holds(v Version) bool {
	order := v.Compare(c.v)
	same := order == 0
	if c.all {
		same = v.within(c.v)
	}
	switch c.op {
	case "==":
		return same
	case "!=":
		return !same
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order < 0
}

// ParseConstraint reads clauses between commas, as Python packages write them: ">=2.6", "==2.5.1", ">=2.4,<2.8",
// "~=2.5.1", "!=2.7.0", "==2.6.*". A bare "2.6" or "2.6.x" is that version and its sub-versions. Nothing is all
// versions. The error is software.bad_constraint.
func ParseConstraint(text string) (Constraint, error) {
	var c Constraint
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		clauses, ok := parseClause(strings.TrimSpace(part))
		if !ok {
			return Constraint{}, problem.New(problem.Input, "software.bad_constraint",
				problem.Args{"Text": text, "Part": strings.TrimSpace(part)})
		}
		c.clauses = append(c.clauses, clauses...)
	}
	return c, nil
}

func parseClause(s string) ([]clause, bool) {
	op := ""
	for _, o := range []string{"~=", "==", "!=", ">=", "<=", ">", "<"} { // the longer before its beginning
		if rest, ok := strings.CutPrefix(s, o); ok {
			op, s = o, strings.TrimSpace(rest)
			break
		}
	}
	s, star := cutStar(s)
	v, err := ParseVersion(s)
	switch {
	case err != nil || star && op != "" && op != "==" && op != "!=":
		return nil, false
	case op == "":
		return []clause{{"==", v, true}}, true
	case op == "~=":
		// ~=2.5.1 is at least 2.5.1 within 2.5; a single number has nothing to stay within.
		if v.n < 2 {
			return nil, false
		}
		parent := v
		parent.n--
		parent.parts[parent.n] = 0
		return []clause{{">=", v, false}, {"==", parent, true}}, true
	}
	return []clause{{op, v, star}}, true
}

// cutStar takes the wildcard off 2.6.* or 2.6.x.
func cutStar(s string) (string, bool) {
	for _, end := range []string{".*", ".x", ".X"} {
		if head, ok := strings.CutSuffix(s, end); ok {
			return head, true
		}
	}
	return s, false
}

// Allows says whether a version is in the set.
func (c Constraint) Allows(v Version) bool {
	for _, cl := range c.clauses {
		if !cl.holds(v) {
			return false
		}
	}
	return true
}

// Any says whether the constraint allows every version because it has no clause.
func (c Constraint) Any() bool { return len(c.clauses) == 0 }

// exact is the one version that the constraint names, if it names one.
func (c Constraint) exact() (Version, bool) {
	if len(c.clauses) != 1 || c.clauses[0].op != "==" || c.clauses[0].all {
		return Version{}, false
	}
	return c.clauses[0].v, true
}

// String prints the clauses; ParseConstraint reads them back to the same set.
func (c Constraint) String() string {
	text := make([]string, len(c.clauses))
	for i, cl := range c.clauses {
		text[i] = cl.op + cl.v.String()
		if cl.all {
			text[i] += ".*"
		}
	}
	return strings.Join(text, ",")
}

// newestFirst sorts versions from new to old.
func newestFirst(vs []Version) {
	slices.SortFunc(vs, func(a, b Version) int { return b.Compare(a) })
}
