package lesson

import "github.com/goatnote-inc/pawl/internal/learn/journal"

// Outcomes are what came of the lessons that were followed in a session.
func Outcomes(session string, attempts []journal.Attempt) []Outcome {
	var list []Outcome
	for _, a := range attempts {
		if a.Lesson != "" {
			list = append(list, Outcome{Lesson: a.Lesson, Session: session, Run: a.Run, Gain: a.Gain, Error: a.Error, Wrong: !a.Correct})
		}
	}
	return list
}
