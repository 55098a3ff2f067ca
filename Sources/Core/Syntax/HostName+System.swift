import CErrandNames
import ErrandSupport

// What the system knows of host names and addresses, in C. Each call gets a string that outlives it, and memory of this
// function with its size.
extension HostName {
    /// An IPv6 address as it is usually written (RFC 5952); nil for other text.
    static func normalizedIPv6(_ text: String) -> String? {
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe inet_ntop(AF_INET6, &address, &name, socklen_t(name.count)) != nil else { return nil }
        return string(name)
    }

    /// The number of an IPv4 address in any form that connects: `127.1` and `0x7f000001` are `127.0.0.1`; nil for other text.
    static func numberOfIPv4(_ text: String) -> UInt32? {
        var address = in_addr()
        return unsafe inet_aton(text, &address) == 0 ? nil : UInt32(bigEndian: address.s_addr)
    }

    /// What the system makes of a name in another script.
    enum Conversion {
        case done(String)
        /// A character isn't allowed in a host name.
        case refused
        /// The system has no library for it.
        case missing
    }

    /// A name in another script in ASCII, by libidn2.
    ///
    /// - Parameters:
    ///   - name: a name without a zero.
    ///   - maximumLength: how many bytes the result may take, with a zero at its end.
    static func converted(_ name: String, maximumLength: Int) -> Conversion {
        var result = [CChar](repeating: 0, count: maximumLength)
        switch unsafe Int(errand_name_to_ascii(name, &result, result.count)) {
        case ERRAND_NAME_DONE: return .done(string(result))
        case ERRAND_NAME_REFUSED: return .refused
        default: return .missing
        }
    }

    /// The text up to a zero.
    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
