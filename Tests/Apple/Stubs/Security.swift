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
