#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Network
import Security

struct NetworkParameters {
    let target: ConnectionTarget
    let configuration: URLSessionConfiguration
    let policy: ChallengePolicy?
    let tags: Tags

    func check() throws(ErrandError) {
        if target.isSecure, policy?.hook != nil {
            throw ErrandError(
                .transportUnavailable,
                "a transport with a challenge closure can't open secure connections, because Network.framework has no "
                    + "challenges; use ServerTrust and URLSessionIdentities")
        }
        if configuration.connectionProxyDictionary?.isEmpty == false {
            throw ErrandError(
                .transportUnavailable,
                "Network.framework connections ignore connectionProxyDictionary; use proxyConfigurations")
        }
    }

    func made(_ rejection: ServerRejection) -> NWParameters {
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        let parameters = NWParameters(tls: target.isSecure ? security(rejection) : nil, tcp: tcp)
        if !configuration.allowsCellularAccess || !tags[AllowsCellularAccess.self] {
            parameters.prohibitedInterfaceTypes = [.cellular]
        }
        parameters.prohibitExpensivePaths =
            !configuration.allowsExpensiveNetworkAccess || !tags[AllowsExpensiveNetworkAccess.self]
        parameters.prohibitConstrainedPaths =
            !configuration.allowsConstrainedNetworkAccess || !tags[AllowsConstrainedNetworkAccess.self]
        if !configuration.proxyConfigurations.isEmpty {
            let context = NWParameters.PrivacyContext(description: "errand")
            context.proxyConfigurations = configuration.proxyConfigurations
            parameters.setPrivacyContext(context)
        }
        return parameters
    }

    private func security(_ rejection: ServerRejection) -> NWProtocolTLS.Options {
        let tls = NWProtocolTLS.Options()
        let options = tls.securityProtocolOptions
        sec_protocol_options_add_tls_application_protocol(options, "http/1.1")
        // App Transport Security, which requires TLS 1.2, doesn't apply to these connections.
        let minimum = configuration.tlsMinimumSupportedProtocolVersion
        sec_protocol_options_set_min_tls_protocol_version(
            options, minimum.rawValue > tls_protocol_version_t.TLSv12.rawValue ? minimum : .TLSv12)
        guard let policy else { return tls }
        // `check(_:)` has already reported an invalid origin.
        if let choice = try? policy.identities?.choice(host: target.host, port: Int(target.port)),
            let identity = choice.identity.networkIdentity
        {
            sec_protocol_options_set_local_identity(options, identity)
        }
        // A resumed TLS session would use the client certificate of an earlier connection.
        if policy.identities != nil { sec_protocol_options_set_tls_resumption_enabled(options, false) }
        if !policy.trust.isEmpty {
            // A resumed TLS session of another transport would skip the check of the server's certificate.
            sec_protocol_options_set_tls_resumption_enabled(options, false)
            sec_protocol_options_set_verify_block(
                options,
                { [host = target.host, trust = policy.trust] _, peer, complete in
                    let peer = sec_trust_copy_ref(peer).takeRetainedValue()
                    SecTrustSetPolicies(peer, SecPolicyCreateSSL(true, host as CFString))
                    let reason = trust.rejection(of: peer, of: host)
                    if let reason { rejection.note(reason) }
                    complete(reason == nil)
                }, ChallengePolicy.evaluation)
        }
        return tls
    }
}

extension ClientCertificate {
    fileprivate var networkIdentity: sec_identity_t? {
        guard let identity = credential.identity else { return nil }
        let chain = credential.certificates
        return chain.isEmpty
            ? sec_identity_create(identity) : sec_identity_create_with_certificates(identity, chain as CFArray)
    }
}
#endif
