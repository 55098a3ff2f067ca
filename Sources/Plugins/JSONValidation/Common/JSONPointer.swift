/// JSON Pointers (RFC 6901) of bounded length.
package enum JSONPointer {
    private static let limit = 1_024

    /// Appends a reference token, with `~` and `/` escaped (section 3); appends one ellipsis to a long pointer instead.
    package static func appending(_ token: String, to pointer: String) -> String {
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
