// The query of the address as it stands there. The router's own hook decodes it once; read as parameters it would be decoded
// twice, and a name like `100%41` would become another one.
export { useSearch as useAddressQuery } from 'wouter/use-browser-location'
