#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The addresses that the configuration gives for hosts, in the place of those that a lookup would find.
struct AddressTable {
    /// By normalized host, as libcurl takes them: IPv6 in brackets, separated by commas.
    private var texts: [String: String] = [:]
    /// The host and the port of the server that looks up names; nil without one.
    private let nameServer: (host: String, port: Int)?

    /// Throws `nameLookupFailed` for something that is no host name or no address, and for a host without an address of
    /// the family.
    init(_ configuration: CurlConfiguration) throws(ErrandError) {
        for (name, list) in configuration.addresses {
            guard let host = HostName.normalized(name), !HostName.isAddress(host) else {
                throw Self.fault("\"\(name)\" is no host name: no scheme, port or path belongs to it")
            }
            var usable: [String] = []
            for address in list {
                if let text = try Self.text(of: address, for: name, configuration.addressFamily) { usable.append(text) }
            }
            if usable.isEmpty { throw Self.fault("the host \(host) has none of the family that is to be used") }
            if texts.updateValue(usable.joined(separator: ","), forKey: host) != nil {
                throw Self.fault("the host \(host) is named twice")
            }
        }
        guard let url = configuration.dnsOverHTTPS else {
            nameServer = nil
            return
        }
        guard url.scheme?.lowercased() == "https", let host = url.host.flatMap(HostName.normalized) else {
            throw ErrandError(.nameLookupFailed, "a server of DNS over HTTPS has an https URL")
        }
        nameServer = (host, url.port ?? Self.securePort)
    }

    private static let securePort = 443

    /// In libcurl's form; nil if it is of another family.
    private static func text(
        of address: String, for host: String, _ family: CurlConfiguration.AddressFamily
    ) throws(ErrandError) -> String? {
        guard HostName.isAddress(address), !address.utf8.contains(UInt8(ascii: "%")),
            let text = HostName.normalized(address)
        else { throw fault("\"\(address)\", for \(host), is none") }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        if family == (isV6 ? .v4 : .v6) { return nil }
        return isV6 ? "[\(text)]" : text
    }

    private static func fault(_ reason: String) -> ErrandError {
        ErrandError(.nameLookupFailed, "the addresses of the transport cannot be used: \(reason)")
    }

    /// Whether no host has an address here.
    var isEmpty: Bool { texts.isEmpty }

    /// The lines of `CURLOPT_RESOLVE` for a request: for the host that it goes to, which may be an alternative of that
    /// of its URL, and for the server that looks it up otherwise.
    func lines(for url: URL, by route: AlternativeTable.Route? = nil) -> [String] {
        guard let host = route?.host ?? url.host.flatMap(HostName.normalized) else { return [] }
        let port = route?.port ?? url.port ?? (url.scheme?.lowercased() == "https" ? Self.securePort : 80)
        if let own = texts[host] {
            // Some versions of libcurl look for a host with the final dot of its URL.
            let isDotted = route == nil && url.host?.hasSuffix(".") == true
            return ["\(host):\(port):\(own)"] + (isDotted ? ["\(host).:\(port):\(own)"] : [])
        }
        guard let nameServer, let known = texts[nameServer.host] else { return [] }
        return ["\(nameServer.host):\(nameServer.port):\(known)"]
    }
}
#endif
