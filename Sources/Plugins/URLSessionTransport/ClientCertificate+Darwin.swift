#if !canImport(FoundationNetworking)
public import Errand
public import ErrandTLS
public import Foundation
public import Security

/// The certificates with which a ``URLSessionTransport`` identifies your app. The keys are the servers' origins.
///
/// ```swift
/// let identities: URLSessionIdentities = ["https://api.example.com": try ClientCertificate(keychainLabel: "device")]
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .urlSession(identities: identities))
/// ```
///
/// To renew a certificate, assign the new certificate: `identities["https://api.example.com"] = renewed`.
public typealias URLSessionIdentities = ClientIdentities<ClientCertificate>

/// A certificate and its key, for servers that request a client certificate (RFC 8446, section 4.3.2). Descriptions
/// don't reveal the certificate or the key.
///
/// ```swift
/// let certificate = try ClientCertificate(pkcs12: data, password: password)
/// let identities: URLSessionIdentities = ["https://api.example.com": certificate]
/// ```
///
/// Available only on Apple platforms. On Linux, use `CurlClientIdentity`.
public struct ClientCertificate: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let credential: URLCredential

    /// Creates a certificate from an identity, for example with a key in the Secure Enclave.
    ///
    /// - Parameters:
    ///   - identity: The certificate and its private key.
    ///   - chain: The certificates between the identity and an authority that the server knows. Defaults to an empty
    ///     array.
    public init(_ identity: SecIdentity, chain: [SecCertificate] = []) {
        // The credential isn't persistent, because the app can assign another certificate at any time.
        credential = URLCredential(identity: identity, certificates: chain, persistence: .none)
    }

    /// Finds an identity in the keychain by its label. Throws `insecureConnection` if the keychain doesn't have the
    /// identity or can't be read.
    ///
    /// - Parameters:
    ///   - keychainLabel: The label of the identity (`kSecAttrLabel`).
    ///   - accessGroup: The access group that shares the identity. Defaults to `nil`: all groups of the app.
    ///   - chain: The certificates between the identity and an authority that the server knows. Defaults to an empty
    ///     array.
    public init(
        keychainLabel: String, accessGroup: String? = nil, chain: [SecCertificate] = []
    ) throws(ErrandError) {
        var query: [String: Any] = [
            kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: keychainLabel,
            kSecReturnRef as String: true, kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        var found: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess, let identity = Self.identity(found) else {
            throw ErrandError(
                .insecureConnection,
                "the keychain has no usable identity \(keychainLabel.debugDescription): status \(status)")
        }
        self.init(identity, chain: chain)
    }

    /// Reads an identity and its chain from PKCS#12 data (a .p12 or .pfx file). Throws `insecureConnection` if the
    /// password is wrong or the data contains no identity. The key isn't added to a keychain.
    ///
    /// - Parameters:
    ///   - pkcs12: The bytes of the file.
    ///   - password: The password of the file.
    public init(pkcs12: Data, password: String) throws(ErrandError) {
        // Without the second option, macOS would add the key to the user's keychain.
        let options: [String: Any] = [
            kSecImportExportPassphrase as String: password, kSecImportToMemoryOnly as String: true,
        ]
        var found: CFArray?
        let status = unsafe SecPKCS12Import(pkcs12 as CFData, options as CFDictionary, &found)
        guard status == errSecSuccess, let item = (found as? [[String: Any]])?.first,
            let identity = Self.identity(item[kSecImportItemIdentity as String] as AnyObject?)
        else {
            throw ErrandError(.insecureConnection, "the PKCS#12 data has no usable identity: status \(status)")
        }
        let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
        // The first certificate is the identity's own.
        self.init(identity, chain: Array(chain.dropFirst()))
    }

    private static func identity(_ value: CFTypeRef?) -> SecIdentity? {
        guard let value, CFGetTypeID(value) == SecIdentityGetTypeID() else { return nil }
        return ([value] as? [SecIdentity])?.first
    }

    /// A fixed text that reveals neither the certificate nor the key.
    public var description: String { "ClientCertificate(•••)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal the certificate.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
