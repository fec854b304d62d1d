package provider

import (
	"regexp"
	"strings"
)

// The forms of region names that carry their country. Anything looser would guess: "US-DE-1" is Delaware, not Germany.
var (
	// Vast: "Texas, US, NA", ", CN, AS". The last part is a continent, which may be missing.
	continentTail = regexp.MustCompile(`^(EU|NA|SA|AS|AF|OC)$`)
	// RunPod: EU-RO-1, EUR-IS-1, AP-JP-1, SEA-SG-1, OC-AU-1.
	continentHead = regexp.MustCompile(`^(?:EU|EUR|AP|AS|SEA|OC|SA|AF|ME)-([A-Z]{2})-\d+$`)
	// RunPod: US-TX-3, CA-MTL-1.
	countryHead = regexp.MustCompile(`^(US|CA)-[A-Z]{2,3}-\d+$`)
	// SimplePod: Europe-PL, North America-CA.
	continentName = regexp.MustCompile(`^(?:Europe|North America|South America|Asia|Africa|Oceania)-([A-Z]{2})$`)
	// Spheron: frankfurt-germany-6.
	cityCountry = regexp.MustCompile(`^[a-z]+-([a-z]+)-\d+$`)
)

// countryInName reads a country's code off a region's name; empty where the name has none of the known forms.
func (t *Table) countryInName(id string) string {
	code := ""
	if parts := strings.Split(id, ","); len(parts) > 1 {
		last := strings.TrimSpace(parts[len(parts)-1])
		if continentTail.MatchString(last) && len(parts) > 2 {
			last = strings.TrimSpace(parts[len(parts)-2])
		}
		code = last
	} else if m := continentHead.FindStringSubmatch(id); m != nil {
		code = m[1]
	} else if m := countryHead.FindStringSubmatch(id); m != nil {
		code = m[1]
	} else if m := continentName.FindStringSubmatch(id); m != nil {
		code = m[1]
	} else if m := cityCountry.FindStringSubmatch(id); m != nil {
		return t.countryNamed(m[1])
	} else if len(id) == 2 {
		code = id
	}
	if t.countries[code] == nil {
		return ""
	}
	return code
}

// countryNamed gives the code of a country by its full name or usual short form, but not of the one that is
// also a state of the US.
func (t *Table) countryNamed(word string) string {
	if word == "georgia" || len(word) == 2 && word != "uk" {
		return ""
	}
	p, ok := t.places[fold(word)]
	if !ok || len(p.countries) != 1 {
		return ""
	}
	return p.countries[0]
}
