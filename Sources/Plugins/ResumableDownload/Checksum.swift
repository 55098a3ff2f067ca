import ErrandSupport

/// The digest that a downloaded file must have.
///
/// ```swift
/// var checksum: Checksum? { .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") }
/// ```
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// A SHA-256 as 64 hexadecimal digits in any case. Anything else makes the download throw
    /// `TransferError.Code.invalidRequest` before anything is sent.
    public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(text: hexadecimal.lowercased()) }

    /// A SHA-256 as its 32 bytes.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> Checksum {
        Checksum(text: Hexadecimal.text(Array(bytes)))
    }

    /// "sha256:9f86…"
    public var description: String { "sha256:\(text)" }

    /// The 32 bytes; nil if the text is not 64 hexadecimal digits.
    var bytes: [UInt8]? {
        Hexadecimal.bytes(text).flatMap { $0.count == 32 ? $0 : nil }
    }
}
