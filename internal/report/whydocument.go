package report

// reasons arranges the explanations in case order and assigns each case its own.
func (d *Document) reasons(whys []Why) {
	of := map[string]Why{}
	for _, w := range whys {
		if _, known := of[w.Case]; !known {
			of[w.Case] = w
		}
	}
	for _, s := range d.Sections {
		for c := range s.Cases {
			own := &s.Cases[c]
			if w, known := of[own.key]; known {
				w.Verdict, w.Change = own.Verdict, own.Change
				r := w.reason()
				r.ID = len(d.Whys) + 1
				d.Whys, own.Why = append(d.Whys, r), &r
			}
		}
	}
}

// whysInHead is how many causes are shown at the top. More would bury the verdict.
const whysInHead = 3

// WhyLines returns the causes right below the verdict, one sentence each.
func (d *Document) WhyLines() []Fact {
	var list []Fact
	for _, r := range d.Whys {
		if r.Sentence == "" || len(list) == whysInHead {
			continue
		}
		label := "Why " + r.Case
		if len(d.Whys) == 1 && d.Sections[0].Cases[0].Name == r.Case {
			label = "Why" // the verdict is about the same case
		}
		list = append(list, Fact{label, r.Sentence})
	}
	return list
}
