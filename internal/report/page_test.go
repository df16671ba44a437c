package report_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/report"
)

// The page in a real browser: it loads nothing, complains of nothing, fits a phone,
// filters, and is used with the keyboard alone.
func TestPageInABrowser(t *testing.T) {
	b := openBrowser(t)
	page := render(t, "html", judged(everyVerdict()))
	url := b.open(page, 360, "dark")

	if wide := b.evaluate("document.documentElement.scrollWidth"); wide != "360" {
		t.Errorf("the page is %s wide on a phone of 360", wide)
	}
	dark := b.evaluate("getComputedStyle(document.body).backgroundColor")

	b.evaluate("document.getElementById('wanted').focus()")
	b.call("Input.insertText", map[string]any{"text": "ATTENTION regr"})
	if got := b.evaluate("[...document.querySelectorAll('details.case:not([hidden]) .name')].map(e => e.firstChild.data.trim()).join()"); got != "attention/S640,attention/S512,attention/S448" {
		t.Errorf("the filter leaves %s", got)
	}
	if told := b.evaluate("document.getElementById('told').textContent"); told != "3 of 9 cases" {
		t.Errorf("the filter says %q", told)
	}
	b.press("Escape", 27)
	if n := b.evaluate("document.querySelectorAll('details.case:not([hidden])').length"); n != "9" {
		t.Errorf("after Escape %s cases are left", n)
	}

	at := ""
	for range 30 {
		b.press("Tab", 9)
		if at = b.evaluate("document.activeElement.matches('#case-2 > summary') && getComputedStyle(document.activeElement).outlineStyle"); at != "false" {
			break
		}
	}
	if at != "solid" {
		t.Errorf("the keyboard does not reach the second case, or the focus is not seen: %s", at)
	}
	before := b.evaluate("document.getElementById('case-2').open")
	b.press("Enter", 13)
	if after := b.evaluate("document.getElementById('case-2').open"); before != "false" || after != "true" {
		t.Errorf("Enter on a case: open was %s and is %s", before, after)
	}

	// A link to a case that is folded away opens what it is in.
	folded := "document.getElementById('case-9').closest('details.fold').open"
	before = b.evaluate(folded)
	b.evaluate("new Promise(done => { addEventListener('hashchange', () => setTimeout(done)); location.hash = 'case-9' })")
	if after := b.evaluate(folded); before != "false" || after != "true" {
		t.Errorf("the fold of a case that was linked to: open was %s and is %s", before, after)
	}
	checkQuiet(t, b, url)

	url = b.open(page, 1200, "light")
	if light := b.evaluate("getComputedStyle(document.body).backgroundColor"); light == dark {
		t.Errorf("light and dark look the same: %s", light)
	}
	checkQuiet(t, b, url)

	hostile := ""
	for _, name := range hostileNames {
		hostile += name
	}
	url = b.open(render(t, "html", hostileDocument(hostile[:400], hostile[:400])), 360, "light")
	if wide := b.evaluate("document.documentElement.scrollWidth"); wide != "360" {
		t.Errorf("hostile names make the page %s wide", wide)
	}
	checkQuiet(t, b, url)

	url = b.open(render(t, "html", withWhys(explained(), onHost())), 360, "dark")
	if wide := b.evaluate("document.documentElement.scrollWidth"); wide != "360" {
		t.Errorf("a cause makes the page %s wide", wide)
	}
	checkQuiet(t, b, url)

	// Without its script the page has everything but the filter.
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.open(render(t, "html", judged(three())), 800, "light")
	if got := b.evaluate("document.getElementById('filter').checkVisibility() + ' ' + document.querySelectorAll('details.case').length"); got != "false 3" {
		t.Errorf("filter to be seen, and cases: %s", got)
	}
}

// checkQuiet fails on anything that the browser complained of or asked a network for.
func checkQuiet(t *testing.T, b *browser, url string) {
	t.Helper()
	b.evaluate("new Promise(done => setTimeout(done, 100))") // what is late still counts
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			t.Errorf("%s: %v", e.Method, e.Params)
		case "Network.requestWillBeSent":
			if request, _ := e.Params["request"].(map[string]any); request["url"] != url {
				t.Errorf("the page asks for %v", request["url"])
			}
		}
	}
}

var screenshots = flag.String("screenshots", "", "write the pictures of the docs to this folder")

// TestScreenshots makes the pictures that the docs show.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots FOLDER writes them")
	}
	chromium := openBrowser(t)
	small, thousand := render(t, "html", judged(three())), render(t, "html", judged(thousand(8, 100)))
	for _, s := range []struct {
		name, page, scheme string
		width, height      int
		before             string
	}{
		{"report-3-light", small, "light", 1100, 1120, ""},
		{"report-3-phone", small, "dark", 360, 1240, ""},
		{"report-3-two-speeds", small, "light", 1100, 1000, "document.getElementById('wanted').value = 'S448'; document.getElementById('wanted').dispatchEvent(new Event('input')); document.getElementById('case-3').open = true"},
		{"report-1000-dark", thousand, "dark", 1100, 1000, "document.getElementById('case-1').open = false"},
		{"report-1000-phone", thousand, "light", 360, 1240, "document.getElementById('case-1').open = false"},
	} {
		chromium.open(s.page, s.width, s.scheme)
		chromium.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.width, "height": s.height, "deviceScaleFactor": 1, "mobile": false})
		chromium.evaluate(s.before)
		data, _ := chromium.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
		picture, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
		keep(t, s.name, picture)
	}
	var b bytes.Buffer
	if err := report.PNG(&b, judged(everyVerdict())); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "report-picture", picture)
}

// keep writes a picture in 256 colours: a clone of the repository carries it for
// ever.
func keep(t *testing.T, name string, picture image.Image) {
	t.Helper()
	box := picture.Bounds()
	count := map[color.Color]int{}
	for y := range box.Dy() {
		for x := range box.Dx() {
			count[picture.At(x, y)]++
		}
	}
	small := image.NewPaletted(box, fewColors(count))
	nearest := map[color.Color]uint8{}
	for y := range box.Dy() {
		for x := range box.Dx() {
			c := picture.At(x, y)
			if _, known := nearest[c]; !known {
				nearest[c] = uint8(small.Palette.Index(c))
			}
			small.SetColorIndex(x, y, nearest[c])
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fewColors takes the most frequent colours, then again and again the one that is
// farthest from all that were taken: a rare colour may be the one that matters.
func fewColors(count map[color.Color]int) color.Palette {
	byCount := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	frequent := min(len(byCount), 128)
	palette, rest := color.Palette(byCount[:frequent:frequent]), byCount[frequent:]
	apart := func(a, b color.Color) float64 {
		r, g, b1, _ := a.RGBA()
		r2, g2, b2, _ := b.RGBA()
		return math.Abs(float64(r)-float64(r2)) + math.Abs(float64(g)-float64(g2)) + math.Abs(float64(b1)-float64(b2))
	}
	far := make([]float64, len(rest))
	for i, c := range rest {
		far[i] = apart(c, palette.Convert(c))
	}
	for len(palette) < 256 && len(rest) > 0 {
		most := 0
		for i := range far {
			if far[i] > far[most] {
				most = i
			}
		}
		next := rest[most]
		palette = append(palette, next)
		for i, c := range rest {
			far[i] = min(far[i], apart(c, next))
		}
	}
	return palette
}
