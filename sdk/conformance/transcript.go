package conformance

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed transcripts/*.txt
var transcripts embed.FS

// Transcript is a dialogue with a harness: the messages to send and the expected replies.
type Transcript struct {
	Name  string
	Steps []Step
}

// Step is one line of a transcript. Exactly one of the fields after Line is set.
type Step struct {
	Line  int
	Send  *string       // "> text": this line is sent as it stands, but for $DIR
	Want  any           // "< pattern": this must be the next reply
	Took  time.Duration // "took 30ms": the last reply took at least so long
	Close bool          // "close": the pipe of requests is closed
	Exit  *int          // "exit 0": the harness ends with this status; AnyFailure for "exit failure"
	Write *Tensors      // "write in.safetensors {...}": this file is put into $DIR
	Read  *Tensors      // "read out.safetensors {...}": this file is there and holds these tensors
	None  string        // "none out.safetensors": there is no such file
}

// AnyFailure matches every positive exit status. It does not match a signal.
const AnyFailure = -1

// Transcripts returns the transcripts that every harness must pass, sorted by name.
func Transcripts() ([]Transcript, error) {
	names, err := transcripts.ReadDir("transcripts")
	if err != nil {
		return nil, fmt.Errorf("cannot read the embedded transcripts: %w", err)
	}
	var all []Transcript
	for _, name := range names {
		text, err := transcripts.Open(path.Join("transcripts", name.Name()))
		if err != nil {
			return nil, fmt.Errorf("cannot read the embedded transcripts: %w", err)
		}
		t, err := Parse(name.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Parse parses a transcript. Errors include the file and the line.
func Parse(name string, r io.Reader) (Transcript, error) {
	t := Transcript{Name: strings.TrimSuffix(name, ".txt")}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		step, err := parseStep(text)
		if err != nil {
			return Transcript{}, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		step.Line = n
		t.Steps = append(t.Steps, step)
	}
	if err := lines.Err(); err != nil {
		return Transcript{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(t.Steps) == 0 {
		return Transcript{}, fmt.Errorf("%s: the transcript is empty", name)
	}
	return t, nil
}

func parseStep(text string) (Step, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case ">":
		return Step{Send: &rest}, nil
	case "<":
		var want any
		if err := json.Unmarshal([]byte(rest), &want); err != nil {
			return Step{}, fmt.Errorf("the pattern is not JSON: %w", err)
		}
		if _, ok := want.(map[string]any); !ok {
			return Step{}, errors.New("the pattern is not a JSON object")
		}
		return Step{Want: want}, checkPattern(want)
	case "took":
		took, err := time.ParseDuration(rest)
		if err != nil || took <= 0 {
			return Step{}, fmt.Errorf("%q is not a duration such as 30ms", rest)
		}
		return Step{Took: took}, nil
	case "close":
		return Step{Close: true}, nil
	case "write":
		f, err := parseTensors(rest)
		return Step{Write: f}, err
	case "read":
		f, err := parseTensors(rest)
		return Step{Read: f}, err
	case "none":
		return Step{None: rest}, nil
	case "exit":
		status := AnyFailure
		if rest != "failure" {
			var err error
			if status, err = strconv.Atoi(rest); err != nil || status < 0 || status > 255 {
				return Step{}, fmt.Errorf("%q is not an exit status: expected 0 to 255, or failure", rest)
			}
		}
		return Step{Exit: &status}, nil
	default:
		return Step{}, fmt.Errorf("a line must start with one of > < took close exit write read none #, not with %q", word)
	}
}
