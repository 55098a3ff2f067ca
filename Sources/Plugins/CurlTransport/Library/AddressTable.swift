#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The configured addresses of hosts, which replace a name lookup.
struct AddressTable {
    /// The addresses by normalized host, in libcurl's form: separated by commas, with IPv6 addresses in brackets.
    private var texts: [String: String] = [:]
    private let nameServer: (host: String, port: Int)?

    /// Parses the configuration. Throws `nameLookupFailed` for an invalid host name or address, and for a host without
    /// an address of the configured family.
    init(_ configuration: CurlConfiguration) throws(ErrandError) {
        for (name, list) in configuration.addresses {
            guard let host = HostName.normalized(name), !HostName.isAddress(host) else {
                throw Self.fault("\"\(name)\" isn't a host name: leave out scheme, port and path")
            }
            var usable: [String] = []
            for address in list {
                if let text = try Self.text(of: address, for: name, configuration.addressFamily) { usable.append(text) }
            }
            if usable.isEmpty { throw Self.fault("the host \(host) has no address of the configured address family") }
            if texts.updateValue(usable.joined(separator: ","), forKey: host) != nil {
                throw Self.fault("the host \(host) is listed twice")
            }
        }
        guard let url = configuration.dnsOverHTTPS else {
            nameServer = nil
            return
        }
        guard url.scheme?.lowercased() == "https", let host = url.host.flatMap(HostName.normalized) else {
            throw ErrandError(.nameLookupFailed, "the DNS-over-HTTPS server needs an https URL")
        }
        nameServer = (host, url.port ?? Self.securePort)
    }

    private static let securePort = 443

    private static func text(
        of address: String, for host: String, _ family: CurlConfiguration.AddressFamily
    ) throws(ErrandError) -> String? {
        guard HostName.isAddress(address), !address.utf8.contains(UInt8(ascii: "%")),
            let text = HostName.normalized(address)
        else { throw fault("\"\(address)\", for \(host), isn't an IP address") }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        if family == (isV6 ? .v4 : .v6) { return nil }
        return isV6 ? "[\(text)]" : text
    }

    private static func fault(_ reason: String) -> ErrandError {
        ErrandError(.nameLookupFailed, "the transport's addresses can't be used: \(reason)")
    }

    var isEmpty: Bool { texts.isEmpty }

    /// Returns lines for `CURLOPT_RESOLVE`. If the host doesn't have configured addresses, the lines contain the
    /// addresses of the DNS-over-HTTPS server.
    func lines(for url: URL, by route: AlternativeTable.Route? = nil) -> [String] {
        guard let host = route?.host ?? url.host.flatMap(HostName.normalized) else { return [] }
        let port = route?.port ?? url.port ?? (url.scheme?.lowercased() == "https" ? Self.securePort : 80)
        if let own = texts[host] {
            // Some libcurl versions look up the host with the final dot in its URL.
            let isDotted = route == nil && url.host?.hasSuffix(".") == true
            return ["\(host):\(port):\(own)"] + (isDotted ? ["\(host).:\(port):\(own)"] : [])
        }
        guard let nameServer, let known = texts[nameServer.host] else { return [] }
        return ["\(nameServer.host):\(nameServer.port):\(known)"]
    }
}
#endif
