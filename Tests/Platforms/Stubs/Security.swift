// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

open class SecCertificate: @unchecked Sendable {}
open class SecKey: @unchecked Sendable {}
open class SecPolicy: @unchecked Sendable {}
public typealias OSStatus = Int32

public func SecCertificateCreateWithData(_ allocator: Any?, _ data: CFData) -> SecCertificate? { fatalError() }
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { fatalError() }
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<CFError?>?) -> CFData? {
    fatalError()
}
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { fatalError() }
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<CFError?>?
) -> SecKey? { fatalError() }
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData, _ error: UnsafeMutablePointer<CFError?>?
) -> CFData? { fatalError() }
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<CFError?>?
) -> Bool { fatalError() }
public struct SecKeyAlgorithm: Sendable, Hashable {
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm()
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm()
}
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { fatalError() }
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { fatalError() }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    fatalError()
}
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }
public let kSecAttrKeyType: CFString = ""
public let kSecAttrKeySizeInBits: CFString = ""
public let kSecAttrKeyTypeRSA: CFString = ""
public let kSecAttrKeyClass: CFString = ""
public let kSecAttrKeyClassPrivate: CFString = ""
public let kSecAttrKeyClassPublic: CFString = ""

public let kSecClass: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrAccessGroup: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecUseDataProtectionKeychain: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitOne: CFString = ""
public let kSecValueData: CFString = ""
public let kSecAttrLabel: CFString = ""
public let kSecClassIdentity: CFString = ""
public let kSecReturnRef: CFString = ""
public let kSecImportExportPassphrase: CFString = ""
public let kSecImportItemCertChain: CFString = ""
public let kSecImportItemIdentity: CFString = ""
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)
public let kSecImportToMemoryOnly: CFString = ""
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { fatalError() }
public typealias CFTypeID = UInt
public func CFGetTypeID(_ value: CFTypeRef!) -> CFTypeID { fatalError() }
public func SecIdentityGetTypeID() -> CFTypeID { fatalError() }
public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecDuplicateItem: OSStatus { -25299 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { fatalError() }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

public typealias CFTypeRef = AnyObject
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus { fatalError() }
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { fatalError() }

// Not Sendable, as in the SDK.
public protocol OS_sec_protocol_options: NSObjectProtocol {}
public protocol OS_sec_protocol_metadata: NSObjectProtocol {}
public protocol OS_sec_trust: NSObjectProtocol {}
public protocol OS_sec_identity: NSObjectProtocol {}
public typealias sec_protocol_options_t = any OS_sec_protocol_options
public typealias sec_protocol_metadata_t = any OS_sec_protocol_metadata
public typealias sec_trust_t = any OS_sec_trust
public typealias sec_identity_t = any OS_sec_identity
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void
public func sec_protocol_options_add_tls_application_protocol(
    _ options: sec_protocol_options_t, _ application_protocol: UnsafePointer<CChar>
) { fatalError() }
public func sec_protocol_options_set_min_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) { fatalError() }
public func sec_protocol_options_set_tls_resumption_enabled(
    _ options: sec_protocol_options_t, _ resumption_enabled: Bool
) { fatalError() }
public func sec_protocol_options_set_local_identity(_ options: sec_protocol_options_t, _ identity: sec_identity_t) {
    fatalError()
}
public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
    _ verify_block_queue: DispatchQueue
) { fatalError() }
public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> { fatalError() }
public func sec_identity_create(_ identity: SecIdentity) -> sec_identity_t? { fatalError() }
public func sec_identity_create_with_certificates(_ identity: SecIdentity, _ certificates: CFArray) -> sec_identity_t? {
    fatalError()
}
