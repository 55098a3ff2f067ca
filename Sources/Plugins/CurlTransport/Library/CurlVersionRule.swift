/// The features Errand avoids with some libcurl versions, and why. ``all`` contains everything the transport knows
/// about versions.
///
/// docs/curl-transport.md repeats the table. A version that a distribution patched without renumbering it is still
/// affected.
struct CurlVersionRule {
    enum Avoided: Int, CaseIterable {
        /// The library itself.
        case library
        /// Using a connection for more than one request.
        case connectionReuse
        /// Using an easy handle for more than one request.
        case handleReuse
        /// Letting libcurl keep header lines that weren't checked first.
        case unseenHeaders
        /// Relying on libcurl to detect bytes it has read after the end of a response over TLS.
        case unseenExcess
        /// HTTP/2.
        case http2
        /// HTTP/2 for a request with a body.
        case http2Upload
        /// HTTP/2 for a body too long to be sent with the head.
        case http2LongUpload
        /// HTTP/3.
        case http3
        /// The callback before each attempt at a request.
        case attemptCallback
        /// Leaving a name lookup before it ends.
        case quickExit
        /// Running libcurl on the caller's thread.
        case callersThread
        /// Relying on libcurl's events and timers when it tries a host's next address.
        case addressChange
        /// Leaving the time for each of a host's addresses to libcurl.
        case addressPatience
    }

    let avoided: Avoided
    let first: CurlVersion
    /// Included.
    let last: CurlVersion
    let reason: String

    private init(_ avoided: Avoided, _ first: CurlVersion, _ last: CurlVersion, _ reason: String) {
        self.avoided = avoided
        self.first = first
        self.last = last
        self.reason = reason
    }

    /// As bits, because every request tests them.
    struct AvoidedSet: Equatable, ExpressibleByArrayLiteral {
        private var bits: UInt = 0

        init(arrayLiteral elements: Avoided...) { for element in elements { insert(element) } }

        func contains(_ avoided: Avoided) -> Bool { bits & 1 << avoided.rawValue != 0 }
        mutating func insert(_ avoided: Avoided) { bits |= 1 << avoided.rawValue }
    }

    static func avoided(in version: CurlVersion) -> AvoidedSet {
        var avoided: AvoidedSet = []
        for rule in all where rule.first <= version && version <= rule.last { avoided.insert(rule.avoided) }
        return avoided
    }

    private static let danglingField = """
        A handle keeps a pointer to the last header field of its last response. A first line that begins with a blank \
        is written through it (curl issue 11101, mended in 8.1.0).
        """

    static let all: [CurlVersionRule] = [
        CurlVersionRule(
            .library, CurlVersion(0, 0, 0), CurlVersion(7, 75, 255),
            "They lack what the transport uses, and 7.61.1 and older free a handle that is still in use."),
        CurlVersionRule(
            .connectionReuse, .oldest, CurlVersion(7, 79, 255),
            """
            libcurl sends a request again on up to five other connections without a callback that could refuse it; and \
            to 7.76.1 a TLS session ticket that arrives on a connection used again is written to freed memory \
            (CVE-2021-22901).
            """),
        CurlVersionRule(
            .handleReuse, CurlVersion(7, 84, 0), CurlVersion(7, 88, 0), danglingField),
        CurlVersionRule(
            .unseenHeaders, CurlVersion(7, 88, 1), CurlVersion(7, 88, 255),
            """
            \(danglingField) This version, which many systems have, is known to show a line to the callback for the body \
            first where that gets the head as well.
            """),
        CurlVersionRule(.handleReuse, CurlVersion(8, 0, 0), CurlVersion(8, 0, 255), danglingField),
        CurlVersionRule(
            .handleReuse, CurlVersion(8, 9, 0), CurlVersion(8, 13, 255),
            """
            A transfer on a handle that was reset ignores the limits of connections, for each host and in all (curl \
            issue 17052, mended in 8.14.0).
            """),
        CurlVersionRule(
            .unseenExcess, CurlVersion(8, 13, 0), .latest,
            """
            A connection is used again although its TLS library holds bytes that belong to no response (seen with 8.16 \
            and 8.23, not with 8.12).
            """),
        CurlVersionRule(
            .http2, .oldest, CurlVersion(7, 88, 0),
            """
            A paused stream stops all others of its connection (seen with 7.81), never goes on (7.84, issue 9180), or \
            loses what was held for it (7.88.0, issue 10525).
            """),
        CurlVersionRule(
            .http2, CurlVersion(8, 0, 0), CurlVersion(8, 13, 255),
            """
            A stream that goes on after a pause stalls (8.0, issue 10988; seen with 8.5; to 8.13, issue 16955), and so \
            do uploads (8.1, issue 11426).
            """),
        CurlVersionRule(
            .http2, CurlVersion(8, 16, 0), CurlVersion(8, 17, 255),
            "A stream that is paused ends with a write error (issue 19334)."),
        CurlVersionRule(
            .http2LongUpload, CurlVersion(7, 88, 1), CurlVersion(7, 88, 255),
            """
            A whole response that comes before the end of the request is lost where RST_STREAM comes with it, and ends \
            the upload without an end else (seen with Debian's; RFC 9113, section 8.1).
            """),
        CurlVersionRule(
            .http2Upload, CurlVersion(8, 14, 0), CurlVersion(8, 22, 255),
            "A server that refuses the stream of an upload makes libcurl use freed memory (CVE-2026-92392)."),
        CurlVersionRule(
            .http3, .oldest, CurlVersion(8, 22, 255),
            "The conformance suite passes over HTTP/3 with 8.23, and no older version was tried."),
        CurlVersionRule(.attemptCallback, .oldest, CurlVersion(7, 79, 255), "CURLOPT_PREREQFUNCTION is of 7.80."),
        CurlVersionRule(.quickExit, .oldest, CurlVersion(7, 86, 255), "CURLOPT_QUICK_EXIT is of 7.87."),
        CurlVersionRule(
            .callersThread, .oldest, CurlVersion(7, 87, 255),
            "A write to a closed TLS connection raises SIGPIPE, which only the transport's own thread blocks."),
        CurlVersionRule(
            .addressChange, CurlVersion(7, 88, 0), CurlVersion(8, 11, 255),
            """
            After an address that fails, libcurl opens the socket for the next one when it is run again, and sets no \
            timer for that (seen with 7.88.1, not with 8.12).
            """),
        CurlVersionRule(
            .addressPatience, .oldest, CurlVersion(8, 22, 255),
            """
            Addresses of one family are tried one after the other, each for half of the remaining time (seen with \
            7.88.1, 8.12 and 8.16; 8.23 does not wait).
            """),
    ]
}

struct CurlVersion: Comparable, CustomStringConvertible {
    /// 0x075801 for 7.88.1.
    let number: UInt32

    init(number: UInt32) { self.number = number }

    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        number = major << 16 | minor << 8 | patch
    }

    static func < (left: CurlVersion, right: CurlVersion) -> Bool { left.number < right.number }

    var description: String { "\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)" }

    /// The oldest supported version. Rules about older versions don't matter.
    static let oldest = CurlVersion(7, 76, 0)
    static let latest = CurlVersion(number: .max)
}
