package workflow

// Pins are the third-party actions that the workflows use, by commit. A tag can be moved
// after an account takeover; a commit cannot.
type Pins struct{ Checkout, Upload, Download string }

var pins = Pins{
	Checkout: "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
	Upload:   "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1",
	Download: "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1",
}
