package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
)

// A recording is shown as a picture that plays by itself: one line of text after the other, without a script.
const (
	castFont   = 13.0 // pixels
	castLine   = 18.0
	castMargin = 16.0
	castPause  = 1.5 // seconds; longer pauses of the recording are shortened to this
)

// castLines are the lines of a recording in the format asciicast v2, and when each appears.
func castLines(cast []byte) (lines []string, at []float64, err error) {
	header, events, _ := bytes.Cut(cast, []byte("\n"))
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(header, &head); err != nil || head.Version != 2 {
		return nil, nil, errors.New("it is not a recording in the format asciicast v2")
	}
	last, shown := 0.0, 0.0
	for event := range bytes.Lines(events) {
		var time float64
		var kind, text string
		if err := json.Unmarshal(event, &[]any{&time, &kind, &text}); err != nil {
			return nil, nil, fmt.Errorf("an event of the recording: %w", err)
		}
		shown += min(time-last, castPause)
		last = time
		lines, at = append(lines, strings.TrimRight(text, "\r\n")), append(at, shown)
	}
	return lines, at, nil
}

// castSVG draws a recording whose events are whole lines.
func castSVG(cast []byte, about string) (string, error) {
	lines, at, err := castLines(cast)
	if err != nil {
		return "", err
	}
	columns := 0
	for _, l := range lines {
		columns = max(columns, len([]rune(l)))
	}
	width, height := 2*castMargin+float64(columns)*castFont*0.602, 2*castMargin+float64(len(lines))*castLine
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">
  <style>
    text { font: %gpx ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #edeff3; white-space: pre; opacity: 0; animation: show .01s linear forwards }
    .b { font-weight: 700 } .r { fill: #ff9a85 } .g { fill: #58d6bd } .s { fill: #929baa }
    @keyframes show { to { opacity: 1 } }
    @media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1 } }
  </style>
  <rect width="100%%" height="100%%" rx="8" fill="#0d0f12"/>
`, width, height, html.EscapeString(about), castFont)
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			fmt.Fprintf(&b, "  <text x=\"%g\" y=\"%g\"%s xml:space=\"preserve\" style=\"animation-delay: %.2fs\">%s</text>\n", castMargin, castMargin+float64(i+1)*castLine-4, castClass(l), at[i], html.EscapeString(l))
		}
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// castClass returns the look of a line.
func castClass(line string) string {
	for start, class := range map[string]string{
		"$ ": "b", "1. ": "b", "2. ": "b", "3. ": "b", "   -": "r", "FAIL": "r", "regression": "r", "   +": "g", "PASS": "g", "improvement": "g", "round ": "s", "warning:": "s", "note:": "s",
	} {
		if strings.HasPrefix(line, start) {
			return ` class="` + class + `"`
		}
	}
	return ""
}
