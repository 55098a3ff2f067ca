import CErrandNames
import ErrandSupport

// Each C function receives a string that outlives the call, and a local buffer with its size.
extension HostName {
    static func normalizedIPv6(_ text: String) -> String? {
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe inet_ntop(AF_INET6, &address, &name, socklen_t(name.count)) != nil else { return nil }
        return string(name)
    }

    static func bytesOfIPv6(_ text: String) -> [UInt8]? {
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: address) { unsafe Array($0) }
    }

    /// Returns the number of an IPv4 address in any form that inet_aton(3) accepts, such as `127.1`.
    static func numberOfIPv4(_ text: String) -> UInt32? {
        var address = in_addr()
        return unsafe inet_aton(text, &address) == 0 ? nil : UInt32(bigEndian: address.s_addr)
    }

    enum Conversion {
        case done(String)
        case refused
        /// The system doesn't have libidn2.
        case missing
    }

    /// Converts a name with libidn2. The name must not contain a null byte. `maximumLength` includes the result's null
    /// byte.
    static func converted(_ name: String, maximumLength: Int) -> Conversion {
        var result = [CChar](repeating: 0, count: maximumLength)
        switch unsafe Int(errand_name_to_ascii(name, &result, result.count)) {
        case ERRAND_NAME_DONE: return .done(string(result))
        case ERRAND_NAME_REFUSED: return .refused
        default: return .missing
        }
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
