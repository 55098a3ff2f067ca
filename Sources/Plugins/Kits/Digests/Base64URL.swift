import ErrandEssentials

/// Base64 with the URL's alphabet and without padding (RFC 7515, appendix C).
package enum Base64URL {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in Data(bytes).base64EncodedString().utf8 {
            switch byte {
            case UInt8(ascii: "+"): text += "-"
            case UInt8(ascii: "/"): text += "_"
            case UInt8(ascii: "="): break
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy(isDigit) else { return nil }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: standard + padding), self.text(bytes) == text else { return nil }
        return Array(bytes)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
