/// A failure of this module, described in a sentence. The caller adds its own error code.
package protocol SupportFault: Error, CustomStringConvertible {}
