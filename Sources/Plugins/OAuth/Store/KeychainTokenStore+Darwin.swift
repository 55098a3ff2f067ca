#if canImport(Darwin)
import Errand
import ErrandEssentials
import Foundation
import Security

/// Keeps a token in the keychain, as a generic password that stays on the device.
///
/// ```swift
/// let store = KeychainTokenStore(service: "com.example.app", account: "ada")
/// ```
///
/// The item is readable once the device has been unlocked after a restart, so background work can renew the token.
public struct KeychainTokenStore: TokenStore {
    /// The item's service name, such as the app's identifier.
    public let service: String
    /// The item's account name. Defaults to `token`.
    public let account: String
    /// The access group that shares the item with other apps. Defaults to nil, which means the app's own group.
    public let accessGroup: String?

    /// Creates a store for one keychain item. The initializer doesn't access the keychain.
    public init(service: String, account: String = "token", accessGroup: String? = nil) {
        (self.service, self.account, self.accessGroup) = (service, account, accessGroup)
    }

    private var item: [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account, kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }

    /// Returns the token, or nil without an item. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func load() async throws -> OAuthToken? {
        var query = item
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = found as? Data else { throw Self.error("read", status) }
        do { return try JSONDecoder().decode(OAuthToken.self, from: data) } catch {
            throw OAuthError(.storeFailed, "the keychain item doesn't contain a valid token: \(error.briefDescription)")
        }
    }

    /// Adds or updates the item. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func save(_ token: OAuthToken) async throws {
        let data = try JSONEncoder().encode(token)
        let values: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil)
            // Another task added the item in the meantime.
            if status == errSecDuplicateItem { status = SecItemUpdate(item as CFDictionary, values as CFDictionary) }
        }
        guard status == errSecSuccess else { throw Self.error("written", status) }
    }

    /// Removes the item, if it exists. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func remove() async throws {
        let status = SecItemDelete(item as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.error("removed", status) }
    }

    private static func error(_ what: String, _ status: OSStatus) -> OAuthError {
        OAuthError(.storeFailed, "the keychain item can't be \(what): status \(status)")
    }
}
#endif
