/// JSON Pointer (RFC 6901), bounded.
enum JSONPointer {
    private static let limit = 1_024

    /// Adds a reference token, `~` and `/` escaped (section 3). A pointer that is long already gets an ellipsis once.
    static func appending(_ token: String, to pointer: String) -> String {
        if pointer.utf8.count > limit { return pointer.hasSuffix("…") ? pointer : pointer + "/…" }
        var longer = pointer + "/"
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": longer += "~0"
            case "/": longer += "~1"
            default: longer.unicodeScalars.append(scalar)
            }
        }
        return longer
    }
}
