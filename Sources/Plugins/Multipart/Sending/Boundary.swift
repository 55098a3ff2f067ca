import Errand
import ErrandEssentials
import ErrandSupport

/// Separates the parts (RFC 2046, section 5.1.1).
struct Boundary: Sendable {
    let text: String
    /// Whether the caller set the boundary. A part could contain such a boundary deliberately, so parts are checked for
    /// it.
    let isGiven: Bool
    let delimiter: [UInt8]

    /// A random boundary has 128 bits and doesn't occur in the parts in memory.
    init(_ given: String?, avoiding data: [Data]) throws {
        var text = given ?? Self.random()
        if given == nil {
            while data.contains(where: { $0.span.firstIndex(of: Array(("--" + text).utf8)) != nil }) {
                text = Self.random()
            }
        }
        guard Self.isValid(text) else {
            throw MultipartError.sending(
                .invalidRequest, own: .invalidBoundary,
                "a boundary has 1 to 70 letters, digits, spaces or '()+_,-./:=? and doesn't end with a space")
        }
        (self.text, isGiven, delimiter) = (text, given != nil, Array(("--" + text).utf8))
    }

    private static func random() -> String {
        let digits = [UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return "errand-" + digits.joined()
    }

    static func isValid(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.last != UInt8(ascii: " ")
            && text.utf8.allSatisfy { allowed.contains($0) }
    }

    private static let allowed = Set(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ".utf8)
}
