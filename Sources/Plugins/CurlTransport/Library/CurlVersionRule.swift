/// The features that Errand avoids with some libcurl versions, and why. ``all`` contains everything that the transport
/// knows about versions, and docs/curl-transport.md repeats it.
///
/// If a distribution patched a version without changing its number, the version still counts as affected.
struct CurlVersionRule {
    enum Avoided: Int, CaseIterable {
        case library
        case connectionReuse
        case handleReuse
        /// Letting libcurl store header lines before Errand has checked them.
        case unseenHeaders
        /// Relying on libcurl to detect bytes that it has read after the end of a response over TLS.
        case unseenExcess
        case http2
        case http2Upload
        /// HTTP/2 for a body too long to be sent with the head.
        case http2LongUpload
        case http3
        case attemptCallback
        /// Abandoning a name lookup before it ends.
        case quickExit
        case callersThread
        /// Relying on libcurl's events and timers when it tries a host's next address.
        case addressChange
        /// Letting libcurl choose the time for each of a host's addresses.
        case addressPatience
    }

    let avoided: Avoided
    let first: CurlVersion
    let last: CurlVersion
    let reason: String

    private init(_ avoided: Avoided, from first: CurlVersion, through last: CurlVersion, _ reason: String) {
        self.avoided = avoided
        self.first = first
        self.last = last
        self.reason = reason
    }

    /// A set of features, stored as bits, because every request tests them.
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
        An easy handle keeps a pointer to the last header field of its last response. If the next response's first \
        line begins with a blank, libcurl writes through that pointer (curl issue 11101, fixed in 8.1.0).
        """

    static let all: [CurlVersionRule] = [
        CurlVersionRule(
            .library, from: CurlVersion(0, 0, 0), through: CurlVersion(7, 75, 255),
            "They lack functions that the transport uses; 7.61.1 and older also free a handle that is still in use."),
        CurlVersionRule(
            .connectionReuse, from: .oldest, through: CurlVersion(7, 79, 255),
            """
            libcurl repeats a request on up to five other connections, without a callback that could prevent it. Up \
            to 7.76.1, a TLS session ticket that arrives on a reused connection is written to freed memory \
            (CVE-2021-22901).
            """),
        CurlVersionRule(
            .handleReuse, from: CurlVersion(7, 84, 0), through: CurlVersion(7, 88, 0), danglingField),
        CurlVersionRule(
            .unseenHeaders, from: CurlVersion(7, 88, 1), through: CurlVersion(7, 88, 255),
            """
            \(danglingField) In this version, which many systems have, the body callback sees each header line first \
            and can reject it.
            """),
        CurlVersionRule(.handleReuse, from: CurlVersion(8, 0, 0), through: CurlVersion(8, 0, 255), danglingField),
        CurlVersionRule(
            .handleReuse, from: CurlVersion(8, 9, 0), through: CurlVersion(8, 13, 255),
            """
            A transfer on a handle that was reset ignores the limits on connections, per host and in total (curl \
            issue 17052, fixed in 8.14.0).
            """),
        CurlVersionRule(
            .unseenExcess, from: CurlVersion(8, 13, 0), through: .latest,
            """
            A connection is reused although its TLS library still holds bytes that don't belong to a response (seen \
            with 8.16 and 8.23, not with 8.12).
            """),
        CurlVersionRule(
            .http2, from: .oldest, through: CurlVersion(7, 88, 0),
            """
            A paused stream stops all other streams of its connection (seen with 7.81), never resumes (7.84, issue \
            9180), or loses the bytes that were kept for it (7.88.0, issue 10525).
            """),
        CurlVersionRule(
            .http2, from: CurlVersion(8, 0, 0), through: CurlVersion(8, 13, 255),
            """
            A stream stalls when it resumes after a pause (8.0, issue 10988; seen with 8.5; up to 8.13, issue 16955), \
            and uploads stall as well (8.1, issue 11426).
            """),
        CurlVersionRule(
            .http2, from: CurlVersion(8, 16, 0), through: CurlVersion(8, 17, 255),
            "A paused stream ends with a write error (issue 19334)."),
        CurlVersionRule(
            .http2LongUpload, from: CurlVersion(7, 88, 1), through: CurlVersion(7, 88, 255),
            """
            If a complete response arrives before the end of the request, it's lost when RST_STREAM arrives with it; \
            otherwise it stops the upload early (seen with Debian's version; RFC 9113, section 8.1).
            """),
        CurlVersionRule(
            .http2Upload, from: CurlVersion(8, 14, 0), through: CurlVersion(8, 22, 255),
            "If a server refuses an upload's stream, libcurl uses freed memory (CVE-2026-92392)."),
        CurlVersionRule(
            .http3, from: .oldest, through: CurlVersion(8, 22, 255),
            "The conformance suite passes over HTTP/3 with 8.23; older versions weren't tried."),
        CurlVersionRule(
            .attemptCallback, from: .oldest, through: CurlVersion(7, 79, 255),
            "CURLOPT_PREREQFUNCTION was added in 7.80."),
        CurlVersionRule(
            .quickExit, from: .oldest, through: CurlVersion(7, 86, 255), "CURLOPT_QUICK_EXIT was added in 7.87."),
        CurlVersionRule(
            .callersThread, from: .oldest, through: CurlVersion(7, 87, 255),
            "A write to a closed TLS connection raises SIGPIPE, which only the transport's own thread blocks."),
        CurlVersionRule(
            .addressChange, from: CurlVersion(7, 88, 0), through: CurlVersion(8, 11, 255),
            """
            After an address fails, libcurl opens the socket for the next address only when it's called again, and \
            doesn't set a timer for that (seen with 7.88.1, not with 8.12).
            """),
        CurlVersionRule(
            .addressPatience, from: .oldest, through: CurlVersion(8, 22, 255),
            """
            Addresses of the same family are tried one after the other, each for half of the remaining time (seen \
            with 7.88.1, 8.12 and 8.16; 8.23 doesn't wait).
            """),
    ]
}

struct CurlVersion: Comparable, CustomStringConvertible {
    let number: UInt32

    init(number: UInt32) { self.number = number }

    init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        number = major << 16 | minor << 8 | patch
    }

    static func < (left: CurlVersion, right: CurlVersion) -> Bool { left.number < right.number }

    var description: String { "\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)" }

    static let oldest = CurlVersion(7, 76, 0)
    static let latest = CurlVersion(number: .max)
}
