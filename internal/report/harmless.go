package report

// Plain makes a name or a sentence that a stranger wrote fit to be shown: one line
// of limited length with nothing invisible in it. It may still be markup.
func Plain(s string) string { return plain(s, sentenceLength) }

// MarkdownText is text in Markdown that means nothing but itself.
func MarkdownText(s string) string { return escape(s) }

// MarkdownCode is a name in Markdown that can be copied and means nothing else.
func MarkdownCode(s string) string { return code(s) }

// Ticks are round values that divide a range into about n parts.
func Ticks(low, high float64, n int) []float64 { return ticks(low, high, n) }
