import Errand
import ErrandEssentials
import ErrandSupport

/// The separator of the parts (RFC 2046, section 5.1.1).
struct Boundary: Sendable {
    let text: String
    /// Whether the caller has given it, so that a part may contain it on purpose.
    let isGiven: Bool
    /// `--` and the boundary.
    let delimiter: [UInt8]

    /// The given boundary, or a random one of 128 bits that no part in memory contains.
    init(_ given: String?, avoiding data: [Data]) throws {
        var text = given ?? Self.random()
        if given == nil {
            while data.contains(where: { $0.span.firstIndex(of: Array(("--" + text).utf8)) != nil }) {
                text = Self.random()
            }
        }
        guard Self.isValid(text) else {
            throw MultipartError.sending(
                .invalidRequest, .invalidBoundary,
                "a boundary has 1 to 70 characters, letters, digits and '()+_,-./:=? or spaces, no space at the end")
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
