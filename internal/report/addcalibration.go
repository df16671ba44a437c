package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// CalibrationLabel is the label of the fact that says how the devices of a fleet were calibrated.
const CalibrationLabel = "calibration"

// AddCalibration adds a calibration to a document of a run that could not know it: verdict.json, ratchet_report.md or report.html.
// It goes before the policy, as in [ratchet.Result] and [NewDocument]; a document without one stays as it is.
func AddCalibration(name string, document []byte, text string) ([]byte, error) {
	text = words.SanitizeTo(text, words.SentenceLength)
	var policy, fact string
	switch name {
	case "verdict.json":
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		policy, fact = "\n  \"policy\": {", fmt.Sprintf("\n  \"calibrations\": [\n    %s\n  ],", quoted)
	case "ratchet_report.md":
		policy, fact = "\n- policy: ", fmt.Sprintf("\n- %s: %s", CalibrationLabel, words.MarkdownText(words.SanitizeTo(text, lineLength)))
	case "report.html":
		policy, fact = "\n<dt>policy</dt>", fmt.Sprintf("\n<dt>%s</dt><dd>%s</dd>", CalibrationLabel, html.EscapeString(text))
	default:
		return document, nil
	}
	return bytes.Replace(document, []byte(policy), []byte(fact+policy), 1), nil
}
