package report

// Sanitize sanitizes an untrusted name or sentence for display: one line of limited length
// without invisible characters. The result may still contain markup.
func Sanitize(s string) string { return sanitize(s, sentenceLength) }

// MarkdownText escapes s so that Markdown shows it literally.
func MarkdownText(s string) string { return escape(s) }

// MarkdownCode formats a name as Markdown code that can be copied and has no other effect.
func MarkdownCode(s string) string { return code(s) }

// Ticks returns round values that divide a range into about n parts.
func Ticks(low, high float64, n int) []float64 { return ticks(low, high, n) }
