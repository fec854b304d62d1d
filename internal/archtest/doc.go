// Package archtest holds the rules of the house as tests: which floor may import which, what a pure package may
// not touch, how money may be written down, how long a file may grow, and that the architecture guide names only
// what exists.
//
// A rule is a row: its reason, how to find what breaks it, the exceptions with their reasons, a snippet that must
// be caught and one that must pass. A rule that cannot fail its own snippet fails the build, and so does an
// exception that nothing needs any more. Nothing imports this package.
package archtest
