// Modules that this target's users also need. Visible only within the package.
@_exported import ErrandEssentials
