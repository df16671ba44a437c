package browser_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/demo"
)

// The report of a run is made again from a record that a stranger sent: with a payload in
// every text of it, the page is text, too.
func TestHostileRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newSite(t)
	all := payloads()
	for i, p := range all {
		all[i] = strings.ReplaceAll(p, "\x00", "")
	}
	var pages []string
	next := 0
	for n := range 4 {
		r := hostileReport(all, n)
		for i := range r.Points { // one unit, so that there is something to draw
			r.Points[i].Unit, r.Points[i].Value, r.Points[i].Low, r.Points[i].High, r.Points[i].Rounds = "ns", 1000, 990, 1010, 6
		}
		run := demo.Record(r)
		clean := needed
		if n%2 == 0 { // rounds that count: the samples are drawn. In the other half all failed, and why is told.
			clean = append(slices.Clone(needed), "Error", "Dropped", "Quarantine")
		}
		poison(reflect.ValueOf(run).Elem(), 0, clean, func() string { next++; return all[next%len(all)] })
		s.sendFiles(t, r, run)
		pages = append(pages, fmt.Sprintf("/p/kernels/runs/%d", s.ingest(t, r).Report))
		if page := fetch(t, s.url+pages[n]); strings.Contains(page, "cannot be shown") || !strings.Contains(page, `id="histories"`) || n%2 == 0 && !strings.Contains(page, "<figure") {
			t.Fatalf("%s is not the whole report:\n%s", pages[n], page)
		}
	}
	if next < len(all) {
		t.Errorf("%d texts of records were poisoned, which is not even every payload once", next)
	}
	tell(t, browse(t, "hostile.mjs", map[string]any{"url": s.url, "pages": pages}))
}

// needed are texts without which a record is none.
var needed = []string{"Schema", "ID", "Digest", "Secret", "Implementation", "Order", "Unit", "When"}

// poison writes over every text that is there or could be, and leaves words with a meaning
// of their own: they have types of their own.
func poison(v reflect.Value, depth int, clean []string, text func() string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(text())
		}
	case reflect.Pointer:
		if v.IsNil() && depth < 4 && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			poison(v.Elem(), depth+1, clean, text)
		}
	case reflect.Slice:
		if v.Len() == 0 && depth < 4 && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i), depth+1, clean, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(clean, f.Name) && v.Field(i).CanSet() {
				if v.Type().Name() == "Implementation" && f.Name == "Name" {
					continue
				}
				poison(v.Field(i), depth+1, clean, text)
			}
		}
	default: // numbers and the like
	}
}
