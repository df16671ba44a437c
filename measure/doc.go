// Package measure says what was measured: every raw sample in the order it was
// taken, the rounds they came from, and the provenance that makes two numbers
// comparable or not. It defines the record pawl.run/v1 and reads and writes it.
//
// Two files carry the same facts. While measuring, the journal (pawl.journal/v1,
// JSON lines, one line a round, fsynced) is the truth: a crash loses at most the
// round under way. When the run ends, the document (pawl.run/v1, one JSON object,
// case by case) is made from it. Open reads either.
//
// The package keeps samples, it does not judge them: no statistics beyond what a
// reader needs to find its way, no clock, no logger. It must not know what a suite,
// a harness or a policy is.
package measure
