package report

// reasons arranges the explanations in case order and assigns each case its own.
// Explanations of cases outside the document come last.
func (d *Document) reasons(whys []Why) {
	at := map[string]int{}
	for i, w := range whys {
		if _, known := at[w.Case]; !known {
			at[w.Case] = i
		}
	}
	add := func(w Why) *Reason {
		r := w.reason()
		r.ID = len(d.Whys) + 1
		d.Whys = append(d.Whys, r)
		return &r
	}
	for s := range d.Sections {
		for c := range d.Sections[s].Cases {
			own := &d.Sections[s].Cases[c]
			i, known := at[own.key]
			if !known {
				continue
			}
			w := whys[i]
			w.Verdict, w.Change = own.Verdict, own.Change
			own.Why = add(w)
			delete(at, own.key)
		}
	}
	for i, w := range whys {
		if first, left := at[w.Case]; left && first == i {
			add(w)
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
		if first := d.first(); len(d.Whys) == 1 && first != nil && first.Name == r.Case {
			label = "Why" // the verdict is about the same case
		}
		list = append(list, Fact{label, r.Sentence})
	}
	return list
}

// first returns the case that the verdict is about; nil if there is none.
func (d *Document) first() *Case {
	if len(d.Sections) == 0 || len(d.Sections[0].Cases) == 0 {
		return nil
	}
	return &d.Sections[0].Cases[0]
}

// Elsewhere returns the explanations of cases that are not in the document.
func (d *Document) Elsewhere() []Reason {
	own := map[int]bool{}
	for _, s := range d.Sections {
		for _, c := range s.Cases {
			if c.Why != nil {
				own[c.Why.ID] = true
			}
		}
	}
	var list []Reason
	for _, r := range d.Whys {
		if !own[r.ID] {
			list = append(list, r)
		}
	}
	return list
}
