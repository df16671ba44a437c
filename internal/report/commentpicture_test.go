package report_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// commentStyle makes Markdown look as a forge shows a comment.
const commentStyle = `<style>
body { margin: 0; padding: 16px; width: 848px; font: 14px/1.5 "DejaVu Sans", sans-serif; color: #1f2328; background: #fff }
.frame { border: 1px solid #d1d9e0; border-radius: 6px }
.head { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; font-size: 13px; color: #59636e }
.head b { color: #1f2328 }
.body { padding: 4px 16px 8px }
h3 { font-size: 17px; margin: 12px 0 } h4 { font-size: 14px; margin: 12px 0 8px }
p, ul, table, pre { margin: 0 0 10px } ul { padding-left: 24px }
code, pre { font: 12px/1.45 "DejaVu Sans Mono", monospace; background: #f0f1f3; border-radius: 6px } code { padding: 2px 5px } pre { padding: 10px } pre code { padding: 0 }
table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 5px 12px } th { font-weight: 600 }
summary { margin: 0 0 8px }
</style>`

// TestCommentScreenshot makes the picture of the README: the top of the comment of a real run, testdata/comment.md. A commit of
// examples/matmul-c keeps the sum in a register, which the compiler cannot vectorize.
func TestCommentScreenshot(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots FOLDER writes them")
	}
	source, err := os.ReadFile("testdata/comment.md")
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := markdown.Convert(source, &body); err != nil {
		t.Fatal(err)
	}
	page := "<!doctype html><meta charset=utf-8>" + commentStyle + `<div class="frame"><div class="head"><b>pawl run</b> wrote results/ratchet_report.md</div><div class="body">` + body.String() + "</div></div>"
	chromium := openBrowser(t)
	chromium.open(page, 880, "light")
	chromium.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 880, "height": 302, "deviceScaleFactor": 1, "mobile": false})
	data, _ := chromium.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
	picture, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "pr-comment", picture)
}
