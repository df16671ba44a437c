package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/ratchet"
)

// JUnit XML as CI systems read it. There is no single standard; all of them support these
// elements and attributes.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suite junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr,omitempty"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes one test case per case. A case that fails the change is a failure, a broken
// candidate is an error, and no answer is skipped. The test time is the candidate's median
// in seconds, so CI charts of test times show it.
func JUnit(w io.Writer, d *Document) error {
	suite := junitSuite{Name: d.Title}
	for _, f := range d.Facts {
		suite.Properties = append(suite.Properties, junitProperty{f.Label, f.Text})
	}
	for _, s := range d.Sections {
		for _, c := range s.Cases {
			suite.add(junitOf(c))
		}
	}
	if d.result != nil && d.result.Suite != nil {
		suite.add(junitTogether(d.result.Suite, d.Suite))
	}
	if d.run != nil {
		suite.Time = fmt.Sprintf("%.3f", d.run.End.Seconds)
		if !d.run.Created.IsZero() {
			suite.Timestamp = d.run.Created.UTC().Format("2006-01-02T15:04:05")
		}
	}
	text, err := xml.MarshalIndent(junitSuites{Name: "pawl", junitCounts: suite.junitCounts, Suite: suite}, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write JUnit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// add adds a case and counts its result.
func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitOf(c Case) junitCase {
	benchmark, config, found := strings.Cut(c.Name, "/")
	if !found {
		config = c.Name
	}
	t := junitCase{Class: benchmark, Name: config, Out: junitEvidence(c)}
	if c.seconds > 0 {
		t.Time = fmt.Sprintf("%.9f", c.seconds)
	}
	message := &junitMessage{Message: c.Sentence, Type: string(c.Verdict)}
	switch {
	case c.Verdict == ratchet.Broken && c.Gate:
		t.Error = message
	case c.Fails:
		t.Failure = message
	case c.Verdict == ratchet.Inconclusive:
		t.Skipped = &junitMessage{Message: c.Sentence}
	}
	return t
}

// junitTogether is a separate test: all cases together may fail although no single case
// does.
func junitTogether(j *ratchet.SuiteJudgment, sentence string) junitCase {
	t := junitCase{Class: "all", Name: "all cases together", Out: sentence}
	switch j.Verdict.Severity() {
	case ratchet.SeverityFail:
		t.Failure = &junitMessage{Message: sentence, Type: string(j.Verdict)}
	case ratchet.SeverityNoAnswer, ratchet.SeverityPass: // the cases themselves report whether there is an answer
	}
	return t
}

func junitEvidence(c Case) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if c.Sentence != "" {
		line("%s", c.Sentence)
	}
	for _, n := range c.Notes {
		line("%s", n)
	}
	for _, row := range c.Numbers.Rows {
		var cells []string
		for i, cell := range row[1:] {
			if cell != "" {
				cells = append(cells, c.Numbers.Head[i+1]+" "+cell)
			}
		}
		line("%s: %s", row[0], strings.Join(cells, ", "))
	}
	for _, f := range c.Evidence {
		line("%s: %s", f.Label, f.Text)
	}
	return b.String()
}
