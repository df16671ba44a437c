package page

// Rules are the rules of the method, in the order in which they save time.
func Rules() []Rule {
	return []Rule{
		{"The environment first: three minutes, not an hour.", "environment"},
		{"A claim is a claim until it was measured here.", "reference"},
		{"Design for this device; know its limits first.", "limits"},
		{"Broken for 30 minutes: find the last good commit.", "broken-build"},
		{"Smallest config first; right comes before fast.", "smoke"},
		{"Below 0.5x of the reference: stop and profile.", "smallest-speed"},
		{"Profile first; fix what it shows, not a suspicion.", "profile-first"},
		{"One variable at a time, measured after each.", "one-variable"},
		{"Right again after every change.", "correct-after-change"},
		{"20 % or more: go on. Three times less: another idea.", "attempts"},
		{"Never change what it is measured with for a number.", "definition"},
		{"Look at the host before long work; never go silent.", "host"},
	}
}
