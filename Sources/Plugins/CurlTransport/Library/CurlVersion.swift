/// A version of libcurl.
struct CurlVersion: Comparable, CustomStringConvertible {
    /// As libcurl numbers it: 0x075801 for 7.88.1.
    let number: UInt32

    init(number: UInt32) { self.number = number }

    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        number = major << 16 | minor << 8 | patch
    }

    static func < (left: CurlVersion, right: CurlVersion) -> Bool { left.number < right.number }

    var description: String { "\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)" }

    /// The oldest version that is used at all: what the rows of ``CurlVersionRule/all`` say of older ones holds for
    /// none.
    static let oldest = CurlVersion(7, 76, 0)
    /// Later than every version.
    static let latest = CurlVersion(number: .max)
}
